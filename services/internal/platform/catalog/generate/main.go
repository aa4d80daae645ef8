// Command generate writes the parts of the deployment's files that list services, and makes from the OpenAPI document
// the Go types and calls of the API and the codes of problems. 'make verify FIX=1' runs it in the repository's root.
// Its test compares the files with what they are made from, also those that it does not write.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"matchmaker.dev/services/internal/edge/openapi/document"
	"matchmaker.dev/services/internal/platform/catalog"
)

func main() {
	files, err := generate(".")
	for name, text := range files {
		err = errors.Join(err, os.WriteFile(name, []byte(text), 0o644)) //nolint:gosec // files of the repository
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// generate returns the files as they should be, by their paths. root is the repository's root.
func generate(root string) (map[string]string, error) {
	text, err := os.ReadFile(filepath.Join(root, "services/internal/edge/openapi/openapi.yaml"))
	if err != nil {
		return nil, err
	}
	doc, err := document.Read(text)
	if err != nil {
		return nil, err
	}
	files, err := api(root, doc)
	if err != nil {
		return nil, err
	}
	files[filepath.Join(root, "deploy/helm/matchmaker/templates/_services.tpl")] = chart()
	var errs []error
	for name, part := range map[string]struct{ pattern, text string }{
		"deploy/Caddyfile": {
			`(?s)(\t# BEGIN of what 'make generate' writes\n).*?(\t# END\n)`, gateway(),
		},
		"services/internal/edge/openapi/openapi.yaml": {
			`(?s)( # BEGIN of what 'make generate' writes\n).*?( +# END\n)`, codesInDocument(doc),
		},
		"deploy/observability/prometheus.yaml": {
			`(names: \[).*?(\])`, strings.Join(catalog.Names(), ", "),
		},
	} {
		path := filepath.Join(root, name)
		text, err := os.ReadFile(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		place := regexp.MustCompile(part.pattern).FindStringSubmatchIndex(string(text))
		if place == nil {
			errs = append(errs, fmt.Errorf("%s: there is nothing like %s", path, part.pattern))
			continue
		}
		files[path] = string(text[:place[3]]) + part.text + string(text[place[4]:])
	}
	return files, errors.Join(errs...)
}

// gateway is the part of the Caddyfile that sends paths to services.
func gateway() string {
	var b strings.Builder
	for _, s := range catalog.Services() {
		if len(s.Routes) == 0 {
			continue
		}
		var paths []string
		for _, r := range s.Routes {
			end := "$"
			if r.Below {
				end = "(/|$)"
			}
			paths = append(paths, r.Path+end)
		}
		fmt.Fprintf(&b, "\t@%s path_regexp ^(%s)\n\thandle @%[1]s {\n\t\timport service {$%[3]s:%[1]s:%[4]d}\n\t}\n\n",
			s.Name, strings.Join(paths, "|"), strings.ToUpper(s.Name), catalog.Port)
	}
	return b.String()
}

// chart is the template with the chart's list of services.
func chart() string {
	var needs, routes strings.Builder
	for _, s := range catalog.Services() {
		fmt.Fprintf(&needs, "%s: { routes: %t, issuers: %t, hostingKeys: %t, modules: %t, seats: %t, regions: %t, "+
			"hosting: %t, webhooks: %t }\n",
			s.Name, len(s.Routes) > 0, s.Issuers, s.HostingKeys, s.Modules, s.Seats, s.Regions, s.Hosting,
			s.Webhooks)
		if s.Name == catalog.Ticket {
			continue // it gets all paths that are no other service's
		}
		for _, r := range s.Routes {
			end := "$"
			if r.Below {
				end = "(/.*)?$"
			}
			fmt.Fprintf(&routes, "%s ^%s%s\n", s.Name, r.Path, end)
		}
	}
	return `{{/* 'make generate' writes this file from services/internal/platform/catalog, which explains it. */}}
{{- define "matchmaker.services" -}}
` + needs.String() + `{{- end }}

{{/*
The paths of each service: a service and a regular expression a line. All other paths are the Tickets API's. It answers
those that do not exist, too, as the contract has it.
*/}}
{{- define "matchmaker.routes" -}}
` + routes.String() + `{{- end }}
`
}
