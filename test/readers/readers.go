// SPDX-License-Identifier: GPL-2.0
//
// readers read MOUNTPOINT CGROUP: let the libraries of runc and containerd read the cgroup's rdma.max
// and rdma.current. Print a line "LIBRARY limit|current DEVICE HANDLES OBJECTS" for each entry.
//
// readers set MOUNTPOINT CGROUP DEVICE OBJECTS: let each library set a limit. The library of runc sets
// OBJECTS, and the library of containerd sets OBJECTS + 1. After each, print the lines of "read" for
// this library.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"

	"github.com/containerd/cgroups"
	v1 "github.com/containerd/cgroups/stats/v1"
	v2 "github.com/containerd/cgroups/v2"
	runc "github.com/opencontainers/runc/libcontainer/cgroups"
	"github.com/opencontainers/runc/libcontainer/cgroups/fscommon"
	"github.com/opencontainers/runc/libcontainer/configs"
	specs "github.com/opencontainers/runtime-spec/specs-go"
)

func check(err error) {
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
}

// Each library has its own type of entries, or of pointers to entries, with the same fields.
func show(library, file string, entries any) {
	list := reflect.ValueOf(entries)
	for i := 0; i < list.Len(); i++ {
		entry := reflect.Indirect(list.Index(i))
		fmt.Println(library, file, entry.FieldByName("Device"), entry.FieldByName("HcaHandles"),
			entry.FieldByName("HcaObjects"))
	}
}

func readRunc(path string) {
	stats := runc.NewStats()
	check(fscommon.RdmaGetStats(path, stats))
	show("runc", "limit", stats.RdmaStats.RdmaLimit)
	show("runc", "current", stats.RdmaStats.RdmaCurrent)
}

// A controller of v1 looks for the hierarchy in a folder with the name of the controller.
func containerd1(mountpoint string, use func(root string)) {
	root, err := os.MkdirTemp("/run", "v1.")
	check(err)
	defer os.RemoveAll(root)
	check(os.Symlink(mountpoint, filepath.Join(root, "rdma")))
	use(root)
}

func readContainerd1(mountpoint, group string) {
	var stats v1.Metrics

	containerd1(mountpoint, func(root string) {
		check(cgroups.NewRdma(root).Stat(group, &stats))
	})
	if stats.Rdma != nil {
		show("containerd", "limit", stats.Rdma.Limit)
		show("containerd", "current", stats.Rdma.Current)
	}
}

func readContainerd2(mountpoint, group string) {
	manager, err := v2.LoadManager(mountpoint, group)
	check(err)
	stats, err := manager.Stat()
	check(err)
	show("containerd-v2", "limit", stats.Rdma.Limit)
	show("containerd-v2", "current", stats.Rdma.Current)
}

func setAll(mountpoint, group, device string, objects uint32) {
	next := objects + 1

	check(fscommon.RdmaSet(filepath.Join(mountpoint, group), &configs.Resources{
		Rdma: map[string]configs.LinuxRdma{device: {HcaObjects: &objects}},
	}))
	readRunc(filepath.Join(mountpoint, group))
	containerd1(mountpoint, func(root string) {
		check(cgroups.NewRdma(root).Update(group, &specs.LinuxResources{
			Rdma: map[string]specs.LinuxRdma{device: {HcaObjects: &next}},
		}))
	})
	readContainerd1(mountpoint, group)
}

func main() {
	switch {
	case len(os.Args) == 4 && os.Args[1] == "read":
		readRunc(filepath.Join(os.Args[2], os.Args[3]))
		readContainerd1(os.Args[2], os.Args[3])
		readContainerd2(os.Args[2], "/"+os.Args[3])
	case len(os.Args) == 6 && os.Args[1] == "set":
		objects, err := strconv.ParseUint(os.Args[5], 10, 32)
		check(err)
		setAll(os.Args[2], os.Args[3], os.Args[4], uint32(objects))
	default:
		fmt.Fprintln(os.Stderr, "usage: readers read MOUNTPOINT CGROUP, or readers set MOUNTPOINT CGROUP DEVICE OBJECTS")
		os.Exit(2)
	}
}
