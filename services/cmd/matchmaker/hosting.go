package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"matchmaker.dev/services/allocator/agones"
	"matchmaker.dev/services/allocator/instant"
	"matchmaker.dev/services/allocator/local"
	"matchmaker.dev/services/allocator/manager"
	"matchmaker.dev/services/allocator/multiplay"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/platform/textfile"
)

// hostingFile is the file of --hosting: the providers of an installation, each with a name that its owner chose, and
// which matches are whose.
type hostingFile struct {
	// Default names the provider of matches that no rule fits; the only provider when there is one. DefaultProjects are
	// the projects that may use it so.
	Default         string               `yaml:"default"`
	DefaultProjects []string             `yaml:"default-projects"`
	Providers       map[string]yaml.Node `yaml:"providers"`
	Rules           []struct {
		Profile  string   `yaml:"profile"`
		Fleet    string   `yaml:"fleet"`
		Projects []string `yaml:"projects"`
		Provider string   `yaml:"provider"`
	} `yaml:"rules"`
}

// readHosting reads the file of --hosting, and the rules in it.
func readHosting(path string) (*hostingFile, provider.Rules, error) {
	text, err := textfile.Read(path)
	if err != nil {
		return nil, provider.Rules{}, fmt.Errorf("--hosting: %w", err)
	}
	file, rules, err := parseHosting(text)
	if err != nil {
		return nil, rules, fmt.Errorf("--hosting: %s: %w", path, err)
	}
	return file, rules, nil
}

func parseHosting(text []byte) (*hostingFile, provider.Rules, error) {
	file, rules := new(hostingFile), provider.Rules{Fleets: map[string]string{}}
	if err := textfile.DecodeYAML(text, file); err != nil {
		return nil, rules, err
	}
	names := slices.Sorted(maps.Keys(file.Providers))
	if len(names) == 0 {
		return nil, rules, errors.New("providers: missing: there would be no servers")
	}
	if len(names) == 1 {
		file.Default = cmp.Or(file.Default, names[0])
	}
	known := func(member, name string) error {
		if !slices.Contains(names, name) {
			return fmt.Errorf("%s: %q is none of the providers: %s", member, name, strings.Join(names, ", "))
		}
		return nil
	}
	err := errors.Join(known("default", file.Default), checkProjects("default-projects", file.DefaultProjects))
	rules.Default, rules.DefaultProjects = file.Default, file.DefaultProjects
	for i, r := range file.Rules {
		err = errors.Join(err, known(fmt.Sprintf("rules[%d].provider", i), r.Provider),
			checkProjects(fmt.Sprintf("rules[%d].projects", i), r.Projects))
		if r.Profile == "" && r.Fleet == "" {
			err = errors.Join(err,
				fmt.Errorf("rules[%d]: profile or fleet is needed; what no rule fits goes to the default", i))
		}
		rules.Rules = append(rules.Rules, provider.Rule{
			Profile: r.Profile, Fleet: r.Fleet, Provider: r.Provider, Projects: r.Projects,
		})
	}
	for name, node := range file.Providers {
		var fleet struct {
			Fleet string `yaml:"fleet"`
		}
		if node.Kind == yaml.MappingNode && node.Decode(&fleet) == nil && fleet.Fleet != "" {
			rules.Fleets[name] = fleet.Fleet
		}
	}
	return file, rules, err
}

// checkProjects refuses an empty list, which would admit no project, and names that no project has: they would look
// like a restriction or a permission that does not exist.
func checkProjects(member string, projects []string) error {
	if projects != nil && len(projects) == 0 {
		return fmt.Errorf("%s: empty: leave it out to let every project in", member)
	}
	for _, p := range projects {
		if !auth.IsProject(p) {
			return fmt.Errorf("%s: %q is no name of a project: there are no patterns, and without the list every "+
				"project is let in", member, p)
		}
	}
	return nil
}

// kinds are the kinds of provider that the file may name. Each reads its own settings, and leaves what has to be
// closed to the builder.
func (b *builder) kinds() map[string]func(*yaml.Node) (provider.Provider, error) {
	return map[string]func(*yaml.Node) (provider.Provider, error){
		"agones": func(settings *yaml.Node) (provider.Provider, error) {
			return remote(b, settings, agones.Options{Log: b.log, Now: b.store.Now}, agones.New)
		},
		"http": func(settings *yaml.Node) (provider.Provider, error) {
			return remote(b, settings, manager.Options{Log: b.log, Now: b.store.Now}, manager.New)
		},
		"multiplay": func(settings *yaml.Node) (provider.Provider, error) {
			return remote(b, settings, multiplay.Options{Log: b.log, Now: b.store.Now}, multiplay.New)
		},
		"instant": b.instant,
		"local":   b.local,
	}
}

// remote is a hosting system elsewhere, with the settings in place of what o has, until the process ends.
func remote[O any, P interface {
	provider.Provider
	Close()
}](b *builder, settings *yaml.Node, o O, open func(O) (P, error)) (provider.Provider, error) {
	if err := strict(settings, &o); err != nil {
		return nil, err
	}
	p, err := open(o)
	if err != nil {
		return nil, err
	}
	b.closing(func(context.Context) error { p.Close(); return nil })
	return p, nil
}

func (b *builder) instant(settings *yaml.Node) (provider.Provider, error) {
	var s instant.Settings
	if err := strict(settings, &s); err != nil {
		return nil, err
	}
	if s.Connection == "" {
		return nil, errors.New("connection: missing, host:port is expected")
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return instant.New(s.Connection), nil
}

func (b *builder) local(settings *yaml.Node) (provider.Provider, error) {
	var s local.Settings
	if err := strict(settings, &s); err != nil {
		return nil, err
	}
	p, err := b.localFleet(s)
	if err != nil { // members have the names of flags
		return nil, errors.New(strings.ReplaceAll(err.Error(), "--", ""))
	}
	return p, nil
}

// localFleet is game servers in and beside this process. They reach the service at this process when no other address
// is set.
func (b *builder) localFleet(s local.Settings) (provider.Provider, error) {
	api := func() string { return cmp.Or(s.API, b.api()) }
	fleet, err := local.New(local.Options{Settings: s, Log: b.log, API: api})
	if err != nil {
		return nil, err
	}
	b.closing(func(context.Context) error { fleet.Close(); return nil })
	return fleet, nil
}

// hosting makes the providers of a file. It refuses unknown members and names: matches would go to another system than
// their owner believes.
func (b *builder) hosting(path string) (provider.Provider, error) {
	file, rules, err := readHosting(path)
	if err != nil {
		return nil, err
	}
	choice, err := b.choice(file, rules)
	if err != nil {
		return nil, fmt.Errorf("--hosting: %s: %w", path, err)
	}
	if open := rules.Open(); len(open) > 0 {
		b.log.Warn("hosting: every project may use the fleets of these rules: name their projects", "rules", open)
	}
	return choice, nil
}

func (b *builder) choice(file *hostingFile, rules provider.Rules) (*provider.Choice, error) {
	choice := &provider.Choice{Rules: rules, Providers: map[string]provider.Provider{}}
	for _, name := range slices.Sorted(maps.Keys(file.Providers)) {
		node := file.Providers[name]
		p, err := b.provider(&node)
		if err != nil {
			return nil, fmt.Errorf("providers.%s: %w", name, err)
		}
		choice.Providers[name] = p
	}
	return choice, nil
}

// provider makes one provider. Which member of its settings says its kind is the same for all.
func (b *builder) provider(node *yaml.Node) (provider.Provider, error) {
	if node.Kind != yaml.MappingNode {
		return nil, errors.New("a kind and its settings are expected")
	}
	kind := ""
	settings := *node
	settings.Content = nil
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == "kind" {
			kind = node.Content[i+1].Value
			continue
		}
		settings.Content = append(settings.Content, node.Content[i], node.Content[i+1])
	}
	kinds := b.kinds()
	if kinds[kind] == nil {
		return nil, fmt.Errorf("kind: %q is none of %s", kind, strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
	}
	return kinds[kind](&settings)
}

// strict decodes a part of a file, and refuses unknown members.
func strict(node *yaml.Node, into any) error {
	text, err := yaml.Marshal(node)
	if err != nil {
		return err
	}
	return textfile.DecodeYAML(text, into)
}
