// Checks Workflows as `argo lint --offline --strict FILE...` does, and prints what Argo makes of each container: a line of
// JSON a file. Argo's own program does not build from its module, which lacks the UI that it embeds.
//
// It costs 383 core-seconds once, nearly all for the Kubernetes client that Argo's packages import; a call, 0.05.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/argoproj/argo-workflows/v4/cmd/argo/lint"
	"github.com/argoproj/argo-workflows/v4/pkg/apiclient"
	wfv1 "github.com/argoproj/argo-workflows/v4/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v4/workflow/common"
	corev1 "k8s.io/api/core/v1"
)

type report struct {
	File   string
	Errors []string
	// By the names of the templates.
	Containers map[string]*corev1.Container
}

func main() {
	if err := check(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func check(files []string) error {
	options := apiclient.Opts{Offline: true, OfflineFiles: files}
	ctx, client, err := apiclient.NewClientFromOptsWithContext(context.Background(), options)
	if err != nil {
		return err
	}
	clients := lint.ServiceClients{WorkflowsClient: client.NewWorkflowServiceClient(ctx)}
	results, err := lint.Lint(ctx, &lint.LintOptions{Files: files, Strict: true, ServiceClients: clients})
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	for _, result := range results.Results {
		one := report{File: result.File, Errors: []string{}, Containers: map[string]*corev1.Container{}}
		for _, err := range result.Errs {
			one.Errors = append(one.Errors, err.Error())
		}
		// Lint passes over a file that it cannot read.
		if !result.Linted {
			one.Errors = append(one.Errors, "no Workflow was found")
		}
		if len(one.Errors) == 0 {
			if err := one.process(ctx); err != nil {
				one.Errors = append(one.Errors, err.Error())
			}
		}
		if err := out.Encode(one); err != nil {
			return err
		}
	}
	return nil
}

func (one *report) process(ctx context.Context) error {
	data, err := os.ReadFile(one.File)
	if err != nil {
		return err
	}
	for _, parsed := range common.ParseObjects(ctx, data, true) {
		workflow, ok := parsed.Object.(*wfv1.Workflow)
		if !ok {
			continue
		}
		globals := common.Parameters{"workflow.name": "workflow-name", "workflow.uid": "workflow-uid"}
		for _, parameter := range workflow.Spec.Arguments.Parameters {
			globals["workflow.parameters."+parameter.Name] = "parameter-" + parameter.Name
		}
		for _, template := range workflow.Spec.Templates {
			if template.Container == nil {
				continue
			}
			if one.Containers[template.Name], err = process(ctx, &template, globals); err != nil {
				return fmt.Errorf("template %s: %w", template.Name, err)
			}
		}
	}
	return nil
}

// process does what Argo's controller does before it creates a pod: once for the node, once for its pod.
func process(ctx context.Context, template *wfv1.Template, globals common.Parameters) (*corev1.Container, error) {
	arguments := wfv1.Arguments{}
	for _, input := range template.Inputs.Parameters {
		value := wfv1.AnyStringPtr("input-" + input.Name)
		arguments.Parameters = append(arguments.Parameters, wfv1.Parameter{Name: input.Name, Value: value})
	}
	locals := common.Parameters{"node.name": "node-name", "pod.name": "pod-name"}
	node, err := common.ProcessArgs(ctx, template, &arguments, globals, locals, false, "default", nil)
	if err != nil {
		return nil, err
	}
	pod, err := common.ProcessArgs(ctx, node, &wfv1.Arguments{}, globals, locals, false, "default", nil)
	if err != nil {
		return nil, err
	}
	return pod.Container, nil
}
