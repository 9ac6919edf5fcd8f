// SPDX-License-Identifier: GPL-2.0
//
// test/runtimes/manifests.go: check the manifests on standard input against the API of Kubernetes:
// each field exists and has the right type, and selectors match labels. Prints "ok NAME" or
// "not ok NAME" for each manifest.
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

func check(object runtime.Object) error {
	if daemons, is := object.(*apps.DaemonSet); is {
		selector, err := meta.LabelSelectorAsSelector(daemons.Spec.Selector)
		if err != nil || selector.Empty() || !selector.Matches(labels.Set(daemons.Spec.Template.Labels)) {
			return errors.New("its selector does not match its template")
		}
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
