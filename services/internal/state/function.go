package state

import (
	"context"
	"errors"
	"slices"

	"github.com/redis/go-redis/v9"
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
		current, err := s.redis.HGet(ctx, k.functions(), name).Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			return unavailable(err)
		}
		var f *pb.Function
		if current != "" {
			f = new(pb.Function)
			if err := proto.Unmarshal([]byte(current), f); err != nil {
				return corrupt("function", err)
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
		put := s.call(functionPutScript, k, ids{},
			"name", name,
			"read", current,
			"body", next,
			"limit", s.functions,
			"may_create", s.mayAdd(ctx, k),
			"event", event,
			"audited", audited,
			"added", len(added))
		for _, module := range slices.Concat(added, dropped) {
			put.args = append(put.args, module)
		}
		verdict, err := s.run(ctx, put)
		if err != nil {
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
	body, err := s.redis.HGet(ctx, keysOf(project).functions(), name).Result()
	if errors.Is(err, redis.Nil) {
		return nil, problem.New(problem.FunctionNotFound, "function %q was not found", name)
	}
	if err != nil {
		return nil, unavailable(err)
	}
	return parseFunction(body)
}

// Functions reads all functions of a project, by name.
func (s *Store) Functions(ctx context.Context, project string) (map[string]*pb.Function, error) {
	bodies, err := s.redis.HGetAll(ctx, keysOf(project).functions()).Result()
	if err != nil {
		return nil, unavailable(err)
	}
	functions := make(map[string]*pb.Function, len(bodies))
	for name, body := range bodies {
		f, err := parseFunction(body)
		if err != nil {
			return nil, err
		}
		functions[name] = f
	}
	return functions, nil
}

func parseFunction(body string) (*pb.Function, error) {
	f := new(pb.Function)
	if err := proto.Unmarshal([]byte(body), f); err != nil {
		return nil, corrupt("function", err)
	}
	return f, nil
}
