// helm renders a chart the way `helm template` does: the same template engine, the same function library. Only what
// charts of this tree use is here: values from values.yaml, named templates, no dependencies.
//
//	helm CHART [NAMESPACE [VALUES [TEMPLATE]]]
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(path string) map[string]interface{} {
	text, err := os.ReadFile(path)
	fail(err)
	values := map[string]interface{}{}
	fail(yaml.Unmarshal(text, &values))
	return values
}

func toYaml(value interface{}) string {
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	fail(encoder.Encode(value))
	return strings.TrimSuffix(text.String(), "\n")
}

// merge lays `over` over `under`, group by group. (A null takes a default away in Helm; here it stays, and is as false.)
func merge(under, over map[string]interface{}) {
	for key, value := range over {
		below, isMap := under[key].(map[string]interface{})
		if above, ok := value.(map[string]interface{}); ok && isMap {
			merge(below, above)
		} else {
			under[key] = value
		}
	}
}

// files is what a template may read of its chart.
type files struct{ chart string }

func (f files) Get(name string) string {
	text, err := os.ReadFile(filepath.Join(f.chart, name))
	fail(err)
	return string(text)
}

func main() {
	chart, namespace := os.Args[1], "kube-system"
	if len(os.Args) > 2 {
		namespace = os.Args[2]
	}
	values := read(filepath.Join(chart, "values.yaml"))
	if len(os.Args) > 3 {
		merge(values, read(os.Args[3]))
	}
	about := read(filepath.Join(chart, "Chart.yaml"))
	context := map[string]interface{}{
		"Values":  values,
		"Release": map[string]interface{}{"Namespace": namespace, "Name": "ccmd", "Service": "Helm"},
		"Files":   files{chart},
		"Chart":   map[string]interface{}{"AppVersion": about["appVersion"], "Name": about["name"], "Version": about["version"]},
	}

	root := template.New("chart").Option("missingkey=error")
	functions := sprig.TxtFuncMap()
	functions["toYaml"] = toYaml
	functions["required"] = func(message string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return nil, errors.New(message)
		}
		return value, nil
	}
	functions["include"] = func(name string, data interface{}) (string, error) {
		var text strings.Builder
		err := root.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	root.Funcs(functions)

	paths, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	fail(err)
	sort.Strings(paths)
	for _, file := range paths {
		text, err := os.ReadFile(file)
		fail(err)
		_, err = root.New(file).Parse(string(text))
		fail(err)
	}
	if len(os.Args) > 4 {
		fail(root.ExecuteTemplate(os.Stdout, filepath.Join(chart, "templates", os.Args[4]), context))
		return
	}
	for _, file := range paths {
		if strings.HasPrefix(filepath.Base(file), "_") || !strings.HasSuffix(file, ".yaml") {
			continue
		}
		fmt.Println("---")
		fail(root.ExecuteTemplate(os.Stdout, file, context))
	}
}
