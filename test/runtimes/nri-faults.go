// SPDX-License-Identifier: GPL-2.0
//
// test/runtimes/nri-faults.go PLUGIN HOOK STARTS: start containers through NRI's own library for
// runtimes, with the real plugin and the real hook, on a tree of files. Meanwhile the plugin is
// killed, stopped, and given more pods than fit into a message. Prints "ok NAME" or "not ok NAME".
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/containerd/nri/pkg/adaptation"
)

const (
	status  = "127.0.0.1:9878"
	figures = "127.0.0.1:9879"
	file    = "rdma.verb.max"
	limit   = "rxe0 qp=7\n"
	timeout = 20 * time.Second
	// The containers that run at once, as many as kubelet allows pods.
	most = 110
)

// The runtime: its pods and containers, and the limits that their cgroups have.
type node struct {
	mutex      sync.Mutex
	pods       []*adaptation.PodSandbox
	containers []*adaptation.Container
	limits     map[string]string
	// The number of containers that ended without their limit.
	lost int
	// Pods with large annotations and without containers.
	large []*adaptation.PodSandbox
	nri   *adaptation.Adaptation
}

func (n *node) synchronize(ctx context.Context, call adaptation.SyncCB) error {
	n.mutex.Lock()
	pods, containers := append(n.pods[:len(n.pods):len(n.pods)], n.large...), n.containers
	n.mutex.Unlock()
	_, err := call(ctx, pods, containers)
	return err
}

func (n *node) update(_ context.Context, updates []*adaptation.ContainerUpdate) ([]*adaptation.ContainerUpdate, error) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	for _, update := range updates {
		n.limits[update.GetContainerId()] = update.GetLinux().GetResources().GetUnified()[file]
	}
	return nil, nil
}

// start starts a container as containerd does. While the runtime starts it, a plugin that registers
// does not see the container if it is hidden: containerd issue 13698.
func (n *node) start(id string, hidden func()) error {
	ctx := context.Background()
	pod := &adaptation.PodSandbox{Id: "pod-" + id, Name: id, Namespace: "default",
		Annotations: map[string]string{"org.rdmacg.limits": "rxe0 qp=7"}}
	container := &adaptation.Container{Id: id, PodSandboxId: pod.Id, Name: "job",
		Linux: &adaptation.LinuxContainer{CgroupsPath: "/kubepods/" + id}}
	answer, err := n.nri.CreateContainer(ctx, &adaptation.CreateContainerRequest{Pod: pod, Container: container})
	if err != nil {
		return err
	}
	if hidden != nil {
		hidden()
	}
	n.mutex.Lock()
	n.limits[id] = answer.GetAdjust().GetLinux().GetResources().GetUnified()[file]
	n.mutex.Unlock()
	if err := n.nri.StartContainer(ctx, &adaptation.StateChangeEvent{Pod: pod, Container: container}); err != nil {
		return err
	}
	n.mutex.Lock()
	n.pods, n.containers = append(n.pods, pod), append(n.containers, container)
	many := len(n.containers) > most
	n.mutex.Unlock()
	if many {
		return n.end()
	}
	return nil
}

// end ends the container that has run for the longest time.
func (n *node) end() error {
	n.mutex.Lock()
	pod, container := n.pods[0], n.containers[0]
	n.pods, n.containers = n.pods[1:], n.containers[1:]
	if n.limits[container.Id] != limit {
		n.lost++
	}
	n.mutex.Unlock()
	return n.nri.RemoveContainer(context.Background(), &adaptation.StateChangeEvent{Pod: pod, Container: container})
}

// without returns the number of containers that run, or ended, without their limit.
func (n *node) without() int {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	count := n.lost
	for _, container := range n.containers {
		if n.limits[container.Id] != limit {
			count++
		}
	}
	return count
}

// The plugin's process. Closed when the process has ended.
type process struct {
	command *exec.Cmd
	ended   chan struct{}
	said    strings.Builder
}

var words []string
var socket string

func run(more ...string) *process {
	p := &process{command: exec.Command(words[0], append(append([]string{}, words[1:]...), more...)...),
		ended: make(chan struct{})}
	p.command.Stderr = &p.said
	if err := p.command.Start(); err != nil {
		panic(err)
	}
	go func() {
		_ = p.command.Wait()
		close(p.ended)
	}()
	return p
}

func (p *process) signal(number syscall.Signal) { _ = p.command.Process.Signal(number) }

func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.ended
}

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// get returns the text at an address, or nothing if there is none.
func get(address string) string {
	client := http.Client{Timeout: timeout}
	answer, err := client.Get("http://" + address)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusOK {
		return ""
	}
	return string(text)
}

func ready() bool { return get(status+"/ready") != "" }

// metrics runs the container of the metrics beside the plugin.
func metrics() {
	served := run("-metrics=" + figures)
	text := ""
	good := within(func() bool {
		text = get(figures + "/metrics")
		return text != ""
	})
	judge(good && strings.Contains(text, "rdmacg_capacity{device=\"rxe0\",resource=\"qp\"} 1000\n") &&
		strings.Contains(text, "\nrdmacg_nri_synchronized 1\n") &&
		strings.Contains(text, "\nrdmacg_nri_containers_total{result=\"created\"} "),
		"the metrics are of the cgroups and of the plugin")
	served.kill()
}

func within(what func() bool) bool {
	for end := time.Now().Add(timeout); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if what() {
			return true
		}
	}
	return what()
}

var failed int

func judge(good bool, name string, values ...any) {
	if good {
		fmt.Printf("ok nri-faults/%s\n", fmt.Sprintf(name, values...))
		return
	}
	failed = 1
	fmt.Printf("not ok nri-faults/%s\n", fmt.Sprintf(name, values...))
}

// faults starts containers while the plugin is killed and stopped in turn.
func (n *node) faults(starts int) {
	plugin := run()
	judge(within(ready), "the plugin is ready when the runtime has synchronized it")
	silent, gap, refused, stopped := 0, 0, 0, false
	for i := 0; i < starts; i++ {
		switch i % 50 {
		case 20:
			plugin.kill()
		case 22:
			plugin = run()
			if !within(ready) {
				judge(false, "the plugin is ready again")
			}
		case 40:
			// The runtime waits for the plugin, and then closes the connection.
			plugin.signal(syscall.SIGSTOP)
			stopped = true
		case 42:
			_ = os.Rename(socket, socket+".away")
			plugin.signal(syscall.SIGCONT)
			stopped = false
			if !within(func() bool { return !ready() }) {
				judge(false, "a plugin whose connection is closed is not ready")
			}
			_ = os.Rename(socket+".away", socket)
			if !within(func() bool { return ready() && n.without() == 0 }) {
				judge(false, "after a pause, all containers have their limits")
			}
		}
		before, id := !stopped && ready(), fmt.Sprintf("c%d", i)
		if err := n.start(id, nil); err != nil {
			refused++
			continue
		}
		n.mutex.Lock()
		has := n.limits[id] == limit
		n.mutex.Unlock()
		if !has && before && ready() {
			silent++
		} else if !has {
			gap++
		}
	}
	judge(silent == 0, "%d of %d containers start without their limit while the plugin is ready", silent, starts)
	judge(within(func() bool { return n.without() == 0 }), "%d of %d containers are without their limit in the end",
		n.without(), starts-refused)
	fmt.Printf("# %d started without the plugin and got their limits when it came back, %d were refused\n", gap, refused)
	// Create a container without the plugin, and start it when the plugin is there.
	plugin.kill()
	err := n.start("hidden", func() {
		plugin = run()
		within(ready)
	})
	judge(err != nil && strings.Contains(err.Error(), "was created without the plugin"),
		"a container that a registering plugin does not see is not started")
	judge(within(func() bool { return n.start("visible", nil) == nil }) && n.without() == 0, "the next container starts with its limit")
	plugin.kill()
}

// create asks for a container with other annotations and an environment, and returns its limits.
func (n *node) create(own map[string]string, env ...string) (string, error) {
	pod := &adaptation.PodSandbox{Id: "pod", Name: "pod", Namespace: "default",
		Annotations: map[string]string{"org.rdmacg.limits": "rxe0 qp=7"}}
	answer, err := n.nri.CreateContainer(context.Background(), &adaptation.CreateContainerRequest{Pod: pod,
		Container: &adaptation.Container{Id: "one", PodSandboxId: pod.Id, Name: "job", Annotations: own, Env: env,
			Linux: &adaptation.LinuxContainer{CgroupsPath: "/kubepods/one"}}})
	return answer.GetAdjust().GetLinux().GetResources().GetUnified()[file], err
}

// requests come from several writers, and an environment may be long.
func (n *node) requests() {
	plugin := run()
	within(ready)
	text, err := n.create(nil, "OTHER="+strings.Repeat("x", 1<<20), "RDMACG_LIMITS_A=rxe0 qp=3", "RDMACG_LIMITS_B=rxe0 qp=5")
	judge(err == nil && text == "rxe0 qp=3\n", "the lowest limit of all variables holds")
	_, err = n.create(map[string]string{"org.rdmacg.limits": "rxe1 qp=9"})
	judge(err != nil && strings.Contains(err.Error(), "request different limits"),
		"different requests of a pod and of a device plugin are refused")
	text, err = n.create(map[string]string{"org.rdmacg.limits": "rxe0 qp=7"})
	judge(err == nil && text == limit, "a request that a device plugin repeats holds")
	plugin.kill()
}

// oversized gives the runtime more annotations than fit into the 4 MiB of a message.
func (n *node) oversized() {
	for i := 0; i < 18; i++ {
		n.large = append(n.large, &adaptation.PodSandbox{Id: fmt.Sprintf("large%d", i), Name: "large", Namespace: "tenant",
			Annotations: map[string]string{"padding": strings.Repeat("x", 250<<10)}})
	}
	plugin := run("-patience=3s")
	was := false
	within(func() bool {
		was = ready()
		return was || plugin.hasEnded()
	})
	good := plugin.hasEnded() && strings.Contains(plugin.said.String(), "the runtime has not synchronized the plugin")
	if was {
		// NRI from 0.7 on splits the message.
		good = within(func() bool { return n.start("beside", nil) == nil }) && n.without() == 0
	}
	judge(good, "a plugin that the runtime cannot synchronize is not ready, and ends with the reason")
	plugin.kill()
	n.large = nil
	plugin = run()
	judge(within(ready), "without the large pods, the plugin is ready again")
	// The hook can miss its time on a busy machine. kubelet then tries again.
	judge(within(func() bool { return n.start("after", nil) == nil }) && n.without() == 0, "a container then has its limit")
	metrics()
	plugin.kill()
}

func main() {
	starts, err := strconv.Atoi(os.Args[3])
	if err != nil {
		panic(err)
	}
	folder, err := os.MkdirTemp("", "nri-faults")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	socket = filepath.Join(folder, "nri.sock")
	words = []string{os.Args[1], "-hook", os.Args[2], "-socket", socket, "-status", status}
	n := &node{limits: map[string]string{}}
	n.nri, err = adaptation.New("test", "1", n.synchronize, n.update, adaptation.WithSocketPath(socket),
		adaptation.WithPluginPath(folder), adaptation.WithPluginConfigPath(folder))
	if err == nil {
		err = n.nri.Start()
	}
	if err != nil {
		panic(err)
	}
	n.requests()
	n.faults(starts)
	n.oversized()
	os.Exit(failed)
}
