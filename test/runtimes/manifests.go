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

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	documents "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
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

func check(text []byte, kind string) error {
	switch kind {
	case "v1/Namespace":
		return yaml.UnmarshalStrict(text, &core.Namespace{})
	case "v1/ServiceAccount":
		return yaml.UnmarshalStrict(text, &core.ServiceAccount{})
	case "v1/ConfigMap":
		return yaml.UnmarshalStrict(text, &core.ConfigMap{})
	case "v1/Pod":
		pod := core.Pod{}
		if err := yaml.UnmarshalStrict(text, &pod); err != nil {
			return err
		}
		return checkPod(pod.Spec)
	case "apps/v1/DaemonSet":
		set := apps.DaemonSet{}
		if err := yaml.UnmarshalStrict(text, &set); err != nil {
			return err
		}
		selector, err := meta.LabelSelectorAsSelector(set.Spec.Selector)
		if err == nil && (selector.Empty() || !selector.Matches(labels.Set(set.Spec.Template.Labels))) {
			err = errors.New("its selector does not match its template")
		}
		if err != nil {
			return err
		}
		return checkPod(set.Spec.Template.Spec)
	}
	return errors.New("this kind is not known here")
}

func main() {
	reader, failed := documents.NewYAMLReader(bufio.NewReader(os.Stdin)), 0
	for {
		text, err := reader.Read()
		if err == io.EOF {
			break
		}
		object := meta.PartialObjectMetadata{}
		if err == nil {
			err = yaml.Unmarshal(text, &object)
		}
		if err == nil && object.Kind == "" {
			continue
		}
		name := object.APIVersion + "/" + object.Kind
		if err == nil && object.Name == "" {
			err = errors.New("it has no name")
		}
		if err == nil {
			err = check(text, name)
		}
		if err != nil {
			fmt.Printf("not ok manifests/%s %s\n# %v\n", name, object.Name, err)
			failed = 1
		} else {
			fmt.Printf("ok manifests/%s %s\n", name, object.Name)
		}
	}
	os.Exit(failed)
}
