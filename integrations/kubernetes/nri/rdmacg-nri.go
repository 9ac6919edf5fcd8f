// SPDX-License-Identifier: GPL-2.0

// rdmacg-nri: an NRI plugin that limits RDMA for the containers of pods.
//
// "oci-hook --unified" decides on the limits. The plugin adds the limits to "unified" of the
// container, so that the runtime sets them before the container's first instruction.
//
// Pods request limits with the annotations limits.rdmacg.org/NAME and org.rdmacg.limits, up to the
// ceiling in the node's /etc/rdmacg/oci.conf. Variables whose names begin with RDMACG_LIMITS, which
// may come from a device or an image, can only lower limits. A container whose limits cannot be set
// does not start.
//
// With -metrics, the program does not limit containers, but serves the figures of "rdmacg export".
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

const (
	annotationOfPod       = "org.rdmacg.limits"
	annotationOfContainer = "limits.rdmacg.org/"
	annotationName        = "io.kubernetes.cri.container-name"
	variable              = "RDMACG_LIMITS"
	// The pause between attempts to reach the runtime.
	pause = time.Second
	// The time for one scrape, and the time after which a scrape reads the files again.
	scrape, fresh = 20 * time.Second, 5 * time.Second
)

type plugin struct {
	hook    string
	config  string
	timeout time.Duration
	runtime stub.Stub
	// The time until Synchronize. Then the plugin ends, and kubelet starts it again.
	patience time.Duration
	// Ends the plugin after this time. A runtime can configure a plugin and then ignore it, for
	// example because its message to Synchronize is too long.
	waiting *time.Timer
	// Guards the fields below.
	mutex sync.Mutex
	// The runtime calls the plugin for each container that it creates.
	synchronized bool
	// The ids of the containers whose limits are set. Only these may start.
	limited map[string]bool
	// The number of containers by the result of their requests.
	results map[string]int
}

// count remembers the result for a container. The empty id is a container that does not exist yet.
func (p *plugin) count(id, result string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.results[result]++
	if id != "" {
		p.limited[id] = true
	}
}

// annotations returns the annotations about limits of this container. An annotation of the container,
// which may come from a device plugin, must not differ from the pod's annotation, because only one
// of them would limit the container.
func annotations(pod *api.PodSandbox, container *api.Container) (map[string]string, error) {
	found := map[string]string{}
	for _, key := range []string{annotationOfPod, annotationOfContainer + container.GetName()} {
		ofPod, inPod := pod.GetAnnotations()[key]
		own, has := container.GetAnnotations()[key]
		if has && inPod && own != ofPod {
			return nil, fmt.Errorf("annotation %s: the pod and a device plugin request different limits; remove one", key)
		}
		if has {
			found[key] = own
		} else if inPod {
			found[key] = ofPod
		}
	}
	return found, nil
}

// variables returns the part of an environment that has limits, because tenants may add megabytes.
func variables(env []string) []string {
	found := []string{}
	for _, one := range env {
		if strings.HasPrefix(one, variable) {
			found = append(found, one)
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
		"process":     map[string]any{"env": variables(env)},
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

// updates returns an update with the limits of an existing container, if it has limits. If the
// container is not asked, the policy decides alone.
func (p *plugin) updates(pod *api.PodSandbox, container *api.Container, ask bool) ([]*api.ContainerUpdate, error) {
	var asked map[string]string
	var env []string
	var err error
	if ask {
		env = container.GetEnv()
		asked, err = annotations(pod, container)
	}
	var unified map[string]string
	if err == nil {
		unified, err = p.limits(pod, container, asked, env)
	}
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
	var unified map[string]string
	asked, err := annotations(pod, container)
	if err == nil {
		unified, err = p.limits(pod, container, asked, container.GetEnv())
	}
	if err != nil {
		log.Printf("%s: not started: %v", name(pod, container), err)
		p.count("", "refused")
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
	p.count(container.GetId(), "created")
	return adjust, nil, nil
}

// StartContainer refuses a container that the plugin does not know. A runtime can hide a container
// from a plugin that registers at this moment. kubelet then creates the container again.
func (p *plugin) StartContainer(_ context.Context, pod *api.PodSandbox, container *api.Container) error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.limited[container.GetId()] {
		return nil
	}
	p.results["refused"]++
	err := errors.New("rdmacg: the container was created without the plugin, so it has no limits; create it again")
	log.Printf("%s: not started: %v", name(pod, container), err)
	return err
}

func (p *plugin) RemoveContainer(_ context.Context, _ *api.PodSandbox, container *api.Container) error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	delete(p.limited, container.GetId())
	return nil
}

// set sets the limits of a running container, and returns whether there are any.
func (p *plugin) set(pod *api.PodSandbox, container *api.Container, ask bool) (bool, error) {
	updates, err := p.updates(pod, container, ask)
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
	return p.updates(pod, container, true)
}

// Synchronize sets the limits of containers that started while the plugin did not run. Synchronize
// answers at once and sets the limits later, because many containers would take longer than the time
// that a plugin has for an answer.
func (p *plugin) Synchronize(_ context.Context, pods []*api.PodSandbox,
	containers []*api.Container) ([]*api.ContainerUpdate, error) {
	p.waiting.Stop()
	p.mutex.Lock()
	p.synchronized, p.limited = true, map[string]bool{}
	p.mutex.Unlock()
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
		has, err := p.set(pod, container, true)
		if err != nil {
			log.Printf("%s: request refused, the policy applies: %v", name(pod, container), err)
			has, err = p.set(pod, container, false)
		}
		if err != nil {
			log.Printf("%s: limits unchanged: %v", name(pod, container), err)
			p.count("", "unchanged")
			continue
		}
		p.count(container.GetId(), "synchronized")
		if has {
			limited++
		}
	}
	log.Printf("synchronized: %d of %d containers have limits", limited, len(containers))
}

// serve runs until the runtime closes the connection.
func (p *plugin) serve(index, socket string) (err error) {
	p.runtime, err = stub.New(p, stub.WithPluginName("rdmacg"), stub.WithPluginIdx(index),
		stub.WithSocketPath(socket), stub.WithOnClose(func() {}))
	p.waiting = time.AfterFunc(p.patience, func() {
		log.Fatalf("the runtime has not synchronized the plugin within %v, so it starts containers without limits; see \"When something restarts\" in the README", p.patience)
	})
	defer p.waiting.Stop()
	if err == nil {
		err = p.runtime.Run(context.Background())
	}
	if err == nil {
		err = errors.New("the runtime has closed the connection")
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.synchronized = false
	return err
}

// ServeHTTP answers the probes of kubelet, and the container with the metrics.
func (p *plugin) ServeHTTP(answer http.ResponseWriter, request *http.Request) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if request.URL.Path == "/ready" && !p.synchronized {
		http.Error(answer, "the runtime has not synchronized the plugin", http.StatusServiceUnavailable)
		return
	}
	if request.URL.Path != "/metrics" {
		fmt.Fprintln(answer, "ok")
		return
	}
	ready := 0
	if p.synchronized {
		ready = 1
	}
	fmt.Fprintf(answer, "# HELP rdmacg_nri_synchronized Whether the plugin limits new containers.\n"+
		"# TYPE rdmacg_nri_synchronized gauge\nrdmacg_nri_synchronized %d\n"+
		"# HELP rdmacg_nri_containers_total Containers by what the plugin did.\n"+
		"# TYPE rdmacg_nri_containers_total counter\n", ready)
	for _, result := range []string{"created", "refused", "synchronized", "unchanged"} {
		fmt.Fprintf(answer, "rdmacg_nri_containers_total{result=%q} %d\n", result, p.results[result])
	}
}

// metrics serves the figures of all cgroups, and of the plugin. It is a process of its own, because
// any pod can reach its port and make it use its memory.
type metrics struct {
	mutex sync.Mutex
	text  []byte
	read  time.Time
	// The address of the plugin's status.
	status string
}

func (m *metrics) collect() []byte {
	ctx, cancel := context.WithTimeout(context.Background(), scrape)
	defer cancel()
	text, err := exec.CommandContext(ctx, "rdmacg", "export", "--format", "prometheus").Output()
	if err != nil {
		log.Printf("rdmacg export: %v", err)
	}
	client := http.Client{Timeout: time.Second}
	answer, err := client.Get("http://" + m.status + "/metrics")
	if err != nil {
		return append(text, "# TYPE rdmacg_nri_synchronized gauge\nrdmacg_nri_synchronized 0\n"...)
	}
	defer answer.Body.Close()
	own, _ := io.ReadAll(io.LimitReader(answer.Body, 4096))
	return append(text, own...)
}

func (m *metrics) ServeHTTP(answer http.ResponseWriter, _ *http.Request) {
	m.mutex.Lock()
	if time.Since(m.read) > fresh {
		m.text, m.read = m.collect(), time.Now()
	}
	text := m.text
	m.mutex.Unlock()
	answer.Header().Set("Content-Type", "text/plain; version=0.0.4")
	_, _ = answer.Write(text)
}

// listen serves HTTP, and ends the program if it cannot.
func listen(address string, handler http.Handler) {
	server := &http.Server{Addr: address, Handler: handler, MaxHeaderBytes: 4096,
		ReadTimeout: 5 * time.Second, WriteTimeout: scrape + 10*time.Second}
	log.Fatal(server.ListenAndServe())
}

func main() {
	p := &plugin{limited: map[string]bool{}, results: map[string]int{}}
	flag.StringVar(&p.hook, "hook", "/usr/libexec/rdmacg/oci-hook", "the program oci-hook")
	flag.StringVar(&p.config, "config", "", "the node's policy, instead of /etc/rdmacg/oci.conf")
	// Answer before the runtime's timeout, because the runtime then closes the connection to
	// the plugin, and starts the container without limits.
	flag.DurationVar(&p.timeout, "timeout", 1500*time.Millisecond,
		"the time for an answer, less than the runtime's plugin_request_timeout, which is 2s")
	flag.DurationVar(&p.patience, "patience", 30*time.Second,
		"end the plugin if the runtime does not synchronize it within this time")
	status := flag.String("status", "", "serve /live, /ready and /metrics of the plugin at this address")
	figures := flag.String("metrics", "", "only serve the metrics of all cgroups at this address")
	index := flag.String("index", "50", "the plugin's place among plugins, two digits")
	socket := flag.String("socket", api.DefaultSocketPath, "NRI's socket")
	flag.Parse()
	if flag.NArg() != 0 {
		flag.Usage()
		os.Exit(2)
	}
	log.SetFlags(0)
	if *figures != "" {
		listen(*figures, &metrics{status: *status})
	}
	if *status != "" {
		go listen(*status, p)
	}
	for {
		log.Print(p.serve(*index, *socket))
		time.Sleep(pause)
	}
}
