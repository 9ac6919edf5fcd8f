// SPDX-License-Identifier: GPL-2.0
//
// test/runtimes/manifests.go: check the manifests on standard input against the API of Kubernetes:
// each field exists and has the right type, selectors match labels, and volumes exist. Prints
// "ok NAME" or "not ok NAME" for each manifest.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	admission "k8s.io/api/admissionregistration/v1"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	documents "k8s.io/apimachinery/pkg/util/yaml"
)

func checkPod(pod core.PodSpec) error {
	volumes := map[string]bool{}
	for _, volume := range pod.Volumes {
		volumes[volume.Name] = true
	}
	if len(pod.Containers) == 0 {
		return errors.New("it has no container")
	}
	for _, container := range pod.Containers {
		if container.Name == "" || container.Image == "" {
			return errors.New("a container has no name or image")
		}
		for _, mount := range container.VolumeMounts {
			if !volumes[mount.Name] || mount.MountPath == "" {
				return fmt.Errorf("%s: there is no volume %q, or no path", container.Name, mount.Name)
			}
		}
	}
	return nil
}

func check(object runtime.Object) error {
	if object.(meta.Object).GetName() == "" {
		return errors.New("it has no name")
	}
	switch found := object.(type) {
	case *core.Pod:
		return checkPod(found.Spec)
	case *apps.DaemonSet:
		selector, err := meta.LabelSelectorAsSelector(found.Spec.Selector)
		if err != nil {
			return err
		}
		if selector.Empty() || !selector.Matches(labels.Set(found.Spec.Template.Labels)) {
			return errors.New("its selector does not match its template")
		}
		return checkPod(found.Spec.Template.Spec)
	}
	return nil
}

func main() {
	known := runtime.NewScheme()
	_ = core.AddToScheme(known)
	_ = apps.AddToScheme(known)
	_ = admission.AddToScheme(known)
	decoder := serializer.NewCodecFactory(known, serializer.EnableStrict).UniversalDeserializer()
	reader, failed := documents.NewYAMLReader(bufio.NewReader(os.Stdin)), 0
	for {
		text, err := reader.Read()
		if err == io.EOF {
			break
		}
		var object runtime.Object
		if err == nil {
			object, _, err = decoder.Decode(text, nil, nil)
		}
		if err == nil {
			err = check(object)
		}
		if err != nil {
			fmt.Printf("not ok manifests: %v\n", err)
			failed = 1
			continue
		}
		fmt.Printf("ok manifests/%s %s\n", object.GetObjectKind().GroupVersionKind().Kind, object.(meta.Object).GetName())
	}
	os.Exit(failed)
}
