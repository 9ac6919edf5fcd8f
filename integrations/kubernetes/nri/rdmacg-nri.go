// SPDX-License-Identifier: GPL-2.0

// rdmacg-nri: a plugin of NRI that limits RDMA for the containers of pods.
//
// "oci-hook --unified" decides on the limits. The plugin adds the limits to "unified" of the
// container, so that the runtime sets them before the container's first instruction.
//
// Pods request limits with the annotations limits.rdmacg.org/NAME and org.rdmacg.limits, up to the
// ceiling in the node's /etc/rdmacg/oci.conf. The variable RDMACG_LIMITS, which may come from a
// device or an image, can only lower limits. A container whose limits cannot be set does not start.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path"
	"strings"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

const (
	annotationOfPod       = "org.rdmacg.limits"
	annotationOfContainer = "limits.rdmacg.org/"
	annotationName        = "io.kubernetes.cri.container-name"
	// The pause between attempts to reach the runtime.
	pause = time.Second
	// The time for the runtime's first call. Then the plugin ends, and kubelet starts it again.
	patience = 30 * time.Second
)

type plugin struct {
	hook    string
	config  string
	timeout time.Duration
	runtime stub.Stub
	// Ends the plugin if the runtime does not answer the registration.
	waiting *time.Timer
}

// annotations returns the annotations about limits. An annotation of the container, which may come
// from a device plugin, replaces the pod's annotation.
func annotations(pod *api.PodSandbox, container *api.Container) map[string]string {
	found := map[string]string{}
	for _, from := range []map[string]string{pod.GetAnnotations(), container.GetAnnotations()} {
		for key, value := range from {
			if key == annotationOfPod || strings.HasPrefix(key, annotationOfContainer) {
				found[key] = value
			}
		}
	}
	return found
}

// above returns the cgroup below which the runtime creates the container's cgroup. This is the
// pod's cgroup with the systemd driver, where the path of a container is SLICE:PREFIX:NAME.
func above(pod *api.PodSandbox, container *api.Container) (string, error) {
	own, parent := container.GetLinux().GetCgroupsPath(), pod.GetLinux().GetCgroupParent()
	if own != "" && !strings.Contains(own, ":") {
		return path.Dir(own), nil
	}
	if parent == "" {
		return "", errors.New("the runtime does not say in which cgroup the pod is")
	}
	return slices(parent), nil
}

// slices returns the path of a slice that CRI-O names without the slices above it: systemd puts
// a-b.slice into a.slice.
func slices(name string) string {
	if !strings.HasSuffix(name, ".slice") || strings.Contains(name, "/") {
		return name
	}
	whole, words := "", strings.Split(strings.TrimSuffix(name, ".slice"), "-")
	for i := range words {
		whole = path.Join(whole, strings.Join(words[:i+1], "-")+".slice")
	}
	return whole
}

// limits returns the texts for the files of the container's cgroup.
func (p *plugin) limits(pod *api.PodSandbox, container *api.Container,
	asked map[string]string, env []string) (map[string]string, error) {
	cgroup, err := above(pod, container)
	if err != nil {
		return nil, err
	}
	known := map[string]string{annotationName: container.GetName()}
	for key, value := range asked {
		known[key] = value
	}
	config, err := json.Marshal(map[string]any{
		"annotations": known,
		"process":     map[string]any{"env": env},
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), p.timeout)
	defer cancel()
	var out, said bytes.Buffer
	words := []string{"--unified", cgroup}
	if p.config != "" {
		words = append(words, "--config", p.config)
	}
	command := exec.CommandContext(ctx, p.hook, words...)
	command.Stdin, command.Stdout, command.Stderr = bytes.NewReader(config), &out, &said
	err = command.Run()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%s: no answer within %v", p.hook, p.timeout)
	}
	if err != nil && said.Len() > 0 {
		return nil, errors.New(strings.ReplaceAll(strings.TrimSpace(said.String()), "\n", "; "))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.hook, err)
	}
	var answer struct{ Unified map[string]string }
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
		return nil, fmt.Errorf("%s: %w", p.hook, err)
	}
	return answer.Unified, nil
}

// updates returns an update with the limits of an existing container, if it has limits.
func (p *plugin) updates(pod *api.PodSandbox, container *api.Container,
	asked map[string]string, env []string) ([]*api.ContainerUpdate, error) {
	unified, err := p.limits(pod, container, asked, env)
	if err != nil || len(unified) == 0 {
		return nil, err
	}
	update := &api.ContainerUpdate{}
	update.SetContainerId(container.GetId())
	for file, text := range unified {
		update.AddLinuxUnified(file, text)
	}
	return []*api.ContainerUpdate{update}, nil
}

func name(pod *api.PodSandbox, container *api.Container) string {
	return pod.GetNamespace() + "/" + pod.GetName() + "/" + container.GetName()
}

// CreateContainer adds the limits. The pod's event shows an error of this function.
func (p *plugin) CreateContainer(_ context.Context, pod *api.PodSandbox, container *api.Container) (
	*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	asked := annotations(pod, container)
	unified, err := p.limits(pod, container, asked, container.GetEnv())
	if err != nil {
		log.Printf("%s: not started: %v", name(pod, container), err)
		return nil, nil, err
	}
	adjust := &api.ContainerAdjustment{}
	for file, text := range unified {
		adjust.AddLinuxUnified(file, text)
	}
	// Add the annotation. Without it, the OCI hook of the node, if there is one, would set the default.
	for key, value := range asked {
		adjust.AddAnnotation(key, value)
	}
	return adjust, nil, nil
}

// set sets the limits of a running container, and returns whether there are any.
func (p *plugin) set(pod *api.PodSandbox, container *api.Container,
	asked map[string]string, env []string) (bool, error) {
	updates, err := p.updates(pod, container, asked, env)
	if err != nil || updates == nil {
		return false, err
	}
	failed, err := p.runtime.UpdateContainers(updates)
	if err == nil && len(failed) > 0 {
		err = errors.New("the runtime could not update the container")
	}
	return err == nil, err
}

// UpdateContainer adds the limits of the present policy to an update.
func (p *plugin) UpdateContainer(_ context.Context, pod *api.PodSandbox, container *api.Container,
	_ *api.LinuxResources) ([]*api.ContainerUpdate, error) {
	return p.updates(pod, container, annotations(pod, container), container.GetEnv())
}

// Synchronize sets the limits of containers that started while the plugin did not run. Synchronize
// answers at once and sets the limits later, because many containers would take longer than the time
// that a plugin has for an answer.
func (p *plugin) Synchronize(_ context.Context, pods []*api.PodSandbox,
	containers []*api.Container) ([]*api.ContainerUpdate, error) {
	go p.synchronize(pods, containers)
	return nil, nil
}

// synchronize cannot stop a running container. If its request is refused, it gets the limits of a
// container without a request. Otherwise a wrong request would mean no limits.
func (p *plugin) synchronize(pods []*api.PodSandbox, containers []*api.Container) {
	of := map[string]*api.PodSandbox{}
	for _, pod := range pods {
		of[pod.GetId()] = pod
	}
	limited := 0
	for _, container := range containers {
		pod := of[container.GetPodSandboxId()]
		has, err := p.set(pod, container, annotations(pod, container), container.GetEnv())
		if err != nil {
			log.Printf("%s: request refused, the policy applies: %v", name(pod, container), err)
			has, err = p.set(pod, container, nil, nil)
		}
		if err != nil {
			log.Printf("%s: limits unchanged: %v", name(pod, container), err)
		} else if has {
			limited++
		}
	}
	log.Printf("synchronized: %d of %d containers have limits", limited, len(containers))
}

// Configure answers the runtime's first call.
func (p *plugin) Configure(context.Context, string, string, string) (api.EventMask, error) {
	p.waiting.Stop()
	return 0, nil
}

// serve runs until the runtime closes the connection.
func (p *plugin) serve(index, socket string) (err error) {
	p.runtime, err = stub.New(p, stub.WithPluginName("rdmacg"), stub.WithPluginIdx(index),
		stub.WithSocketPath(socket), stub.WithOnClose(func() {}))
	// After the registration, the library waits for the first call without a limit.
	p.waiting = time.AfterFunc(patience, func() { log.Fatal("the runtime does not configure the plugin") })
	defer p.waiting.Stop()
	if err == nil {
		err = p.runtime.Run(context.Background())
	}
	if err == nil {
		err = errors.New("the runtime has closed the connection")
	}
	return err
}

func main() {
	p := &plugin{}
	flag.StringVar(&p.hook, "hook", "/usr/libexec/rdmacg/oci-hook", "the program oci-hook")
	flag.StringVar(&p.config, "config", "", "the node's policy, instead of /etc/rdmacg/oci.conf")
	// Answer before the runtime's timeout, because the runtime then closes the connection to
	// the plugin, and starts the container without limits.
	flag.DurationVar(&p.timeout, "timeout", 1500*time.Millisecond,
		"the time for an answer, less than the runtime's plugin_request_timeout, which is 2s")
	index := flag.String("index", "50", "the plugin's place among plugins, two digits")
	socket := flag.String("socket", api.DefaultSocketPath, "NRI's socket")
	flag.Parse()
	if flag.NArg() != 0 {
		flag.Usage()
		os.Exit(2)
	}
	log.SetFlags(0)
	for {
		log.Print(p.serve(*index, *socket))
		time.Sleep(pause)
	}
}
