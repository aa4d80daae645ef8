package state

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
)

// ChangeFunction reads a function, calls change with it, and writes the result. When another caller wrote the function
// meanwhile, it starts again. change gets nil when there is no such function, and returns nil to delete it. Errors:
// Invalid when the project already has the most functions that it may have, or the system the most projects;
// Unavailable when the function names a module that it did not name before, and that NoteModule was not told of, or
// when it is new and Redis is short of memory.
func (s *Store) ChangeFunction(
	ctx context.Context, project, name string, change func(*pb.Function) (*pb.Function, error),
) error {
	return s.ChangeFunctionWith(ctx, project, name, func(f *pb.Function) (*pb.Function, *pb.Event, error) {
		f, err := change(f)
		return f, nil, err
	})
}

// ChangeFunctionWith is ChangeFunction for a change that is told in an event, which is appended to the history in the
// same step. No event is appended if it is nil.
func (s *Store) ChangeFunctionWith(ctx context.Context, project, name string,
	change func(*pb.Function) (*pb.Function, *pb.Event, error),
) error {
	k := keysOf(project)
	for {
		current, err := textOf(s.redis.HGet(ctx, k.functions(), name))
		if err != nil {
			return err
		}
		var f *pb.Function
		if current != "" {
			if f, err = parse[pb.Function]("function", current); err != nil {
				return err
			}
		}
		before := ModulesOf(f)
		var e *pb.Event
		if f, e, err = change(f); err != nil {
			return err
		}
		var event, audited []byte
		if e != nil {
			event = s.encodeEvent(e)
			audited = encodeChange(&pb.Change{Kind: "function", Name: name, Action: e.GetReason(), By: e.GetBy(),
				Upload: e.GetUpload(), Detail: e.GetDetail()})
		}
		modules := ModulesOf(f)
		var next []byte
		if f != nil {
			if err := s.addProject(ctx, project); err != nil {
				return err
			}
			if next, err = proto.Marshal(f); err != nil {
				return corrupt("function", err)
			}
		}
		added, dropped := namedAnew(before, modules), namedAnew(modules, before)
		put := s.call("function_put", k, ids{},
			"name", name,
			"read", current,
			"body", next,
			"limit", s.functions,
			"may_create", s.mayAdd(ctx, k),
			"event", event,
			"audited", audited,
			"added", len(added))
		put.addArgs(slices.Concat(added, dropped))
		var verdict string
		if err := s.eval(ctx, put, &verdict); err != nil {
			return err
		}
		switch verdict {
		case "ok":
			return nil
		case "short":
			return shortOfMemory(nil)
		case "full":
			return problem.New(problem.Invalid, "the project has %d match functions, the most it may have: delete one first",
				s.functions).Exceeds("max-functions")
		case "gone":
			return problem.New(problem.Unavailable, "the module of the function was removed meanwhile: upload it again")
		}
	}
}

// Function reads a function. Errors: NotFound.
func (s *Store) Function(ctx context.Context, project, name string) (*pb.Function, error) {
	body, err := textOf(s.redis.HGet(ctx, keysOf(project).functions(), name))
	if err != nil {
		return nil, err
	}
	if body == "" {
		return nil, problem.New(problem.FunctionNotFound, "function %q was not found", name)
	}
	return parse[pb.Function]("function", body)
}

// Functions reads all functions of a project, by name.
func (s *Store) Functions(ctx context.Context, project string) (map[string]*pb.Function, error) {
	bodies, err := s.redis.HGetAll(ctx, keysOf(project).functions()).Result()
	if err != nil {
		return nil, unavailable(err)
	}
	functions := make(map[string]*pb.Function, len(bodies))
	for name, body := range bodies {
		if functions[name], err = parse[pb.Function]("function", body); err != nil {
			return nil, err
		}
	}
	return functions, nil
}
