package main

import (
	"context"

	"matchmaker.dev/pkg/client"
)

type functionCommands struct {
	Put      functionPut      `cmd:"" help:"Upload a match function."`
	List     functionList     `cmd:"" help:"List the project's match functions."`
	Get      functionGet      `cmd:"" help:"Print the state of a match function."`
	Log      functionLog      `cmd:"" help:"Print what a match function logged."`
	Restart  functionRestart  `cmd:"" help:"Restart match functions."`
	Versions functionVersions `cmd:"" help:"List the uploads of a match function that are kept."`
	Rollback functionRollback `cmd:"" help:"Go back to an earlier upload of a match function."`
	Delete   functionDelete   `cmd:"" help:"Delete a match function."`
	New      functionNew      `cmd:"" help:"Write a project for a match function, in Go."`
	Test     functionTest     `cmd:"" help:"Try a match function on this machine, without a service."`
}

type functionList struct{}

func (functionList) Help() string { return "Example: mm function list --output json" }

// Run prints the functions.
func (functionList) Run(ctx context.Context, s *session) error {
	api, err := s.connect(asDeveloper())
	if err != nil {
		return err
	}
	functions, err := api.GetFunctions(ctx)
	if err != nil {
		return err
	}
	if functions == nil {
		functions = []client.Function{}
	}
	if len(functions) == 0 {
		s.note("project %s has no functions: upload one with \"mm function put\"", s.Project)
	}
	g := grid{head: []any{"name", "state", "instances", "updated", "md5"}}
	for _, f := range functions {
		g.add(f.Name, f.Status.State, len(f.Status.Instances), moment(f.Updated), f.MD5)
	}
	return s.show(functions, g)
}

type functionGet struct {
	Name string `arg:"" help:"The function's name."`
}

func (functionGet) Help() string { return "Example: mm function get duel" }

// Run prints the function.
func (c functionGet) Run(ctx context.Context, s *session) error {
	api, err := s.connect(asDeveloper())
	if err != nil {
		return err
	}
	f, err := api.GetFunction(ctx, c.Name)
	if err != nil {
		return err
	}
	return s.showFunction(f)
}

func (s *session) showFunction(f *client.Function) error {
	var about grid
	about.add("function", f.Name)
	about.add("state", f.Status.State)
	about.add("md5", f.MD5)
	about.add("created", moment(f.Created))
	about.add("updated", moment(f.Updated))
	instances := grid{head: []any{"instance", "state"}}
	for _, i := range f.Status.Instances {
		instances.add(i.Name, i.State)
	}
	return s.show(f, about, instances)
}
