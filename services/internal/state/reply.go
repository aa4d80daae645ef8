package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"
)

// message is a record as it is stored.
type message[T any] interface {
	*T
	proto.Message
}

// parse decodes a record. what is its name in an error.
func parse[T any, M message[T]](what, body string) (M, error) {
	m := M(new(T))
	if err := proto.Unmarshal([]byte(body), m); err != nil {
		return nil, corrupt(what, err)
	}
	return m, nil
}

// readMessage reads a record in a field of a hash, in a round trip shared with other callers; nil if there is none.
func readMessage[T any, M message[T]](ctx context.Context, s *Store, project, key, field, what string) (M, error) {
	body, err := s.textIn(ctx, project, key, field)
	if err != nil || body == "" {
		return nil, err
	}
	return parse[T, M](what, body)
}

// textIn reads a field of a hash in a round trip shared with other callers; "" if there is none.
func (s *Store) textIn(ctx context.Context, project, key, field string) (string, error) {
	row, err := s.readShared(ctx, project, key, field)
	if err != nil {
		return "", err
	}
	text, _ := row[0].(string) // rowOf has checked it
	return text, nil
}

// textOf returns a text that was read; "" if there is none.
func textOf(cmd *redis.StringCmd) (string, error) {
	text, err := cmd.Result()
	if errors.Is(err, redis.Nil) {
		return "", nil
	}
	return text, unavailable(err)
}

// forEach sends a command for each item, all in one round trip. That there is nothing to read is no error.
func forEach[T any, C redis.Cmder](
	ctx context.Context, client redis.UniversalClient, items []T, command func(p redis.Pipeliner, item T) C,
) ([]C, error) {
	cmds := make([]C, len(items))
	_, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, item := range items {
			cmds[i] = command(p, item)
		}
		return nil
	})
	if errors.Is(err, redis.Nil) {
		err = nil
	}
	return cmds, unavailable(err)
}

// words is a text of a reply that has several, with spaces between.
type words []string

// eval runs a script and reads its reply, as parseReply does.
func (s *Store) eval(ctx context.Context, c call, targets ...any) error {
	reply, err := s.run(ctx, c)
	if err != nil {
		return err
	}
	return parseReply(reply, targets...)
}

// evalShared is eval in a round trip shared with other callers.
func (s *Store) evalShared(ctx context.Context, project string, c call, targets ...any) error {
	reply, err := s.runShared(ctx, project, c)
	if err != nil {
		return err
	}
	return parseReply(reply, targets...)
}

// parseReply reads the values of a script's reply into targets, in their order: *string, *words, *int, *int64, *uint64
// (not less than 0) and *bool (1 or 0). The last may be a *[]string or *[]any for all other values. A reply of another
// shape is an error. But a single text that is not "ok" says why nothing was done, and the other targets stay as they
// are. Without targets the reply does not matter.
func parseReply(reply any, targets ...any) error {
	if len(targets) == 0 {
		return nil
	}
	list, isList := reply.([]any)
	if !isList {
		list = []any{reply}
	}
	if len(list) == 1 && list[0] != "ok" {
		if _, refused := list[0].(string); refused {
			targets = targets[:1]
		}
	}
	var in replied
	n := len(targets)
	switch targets[n-1].(type) {
	case *[]string, *[]any:
		n--
		in.check(isList, reply, "a list")
	default:
		in.check(len(list) == n, reply, strconv.Itoa(n)+" values")
	}
	if in.check(len(list) >= n, reply, strconv.Itoa(n)+" values"); in.err != nil {
		return in.err
	}
	for i, value := range list[:n] {
		in.check(value != nil, value, "a value")
		in.read(value, targets[i])
	}
	switch rest := targets[len(targets)-1].(type) {
	case *[]string:
		*rest = in.texts(list[n:])
	case *[]any:
		*rest = list[n:]
	}
	return in.err
}

// replied reads values of a reply, and keeps the first error: a value of another shape is an error, never zero. A
// missing value is nil. In errors, of names what is read, if it is not "".
type replied struct {
	of  string
	err error
}

// read reads a value into a target.
func (r *replied) read(value, target any) {
	switch to := target.(type) {
	case *string:
		*to = r.text(value)
	case *words:
		*to = strings.Fields(r.text(value))
	case *int:
		*to = int(r.number(value))
	case *int64:
		*to = r.number(value)
	case *uint64:
		n := r.number(value)
		r.check(n >= 0, value, "a position")
		*to = uint64(max(0, n))
	case *bool:
		n := r.number(value)
		r.check(n == 0 || n == 1, value, "a flag")
		*to = n == 1
	default:
		r.check(false, target, "a target")
	}
}

func (r *replied) text(value any) string {
	text, ok := value.(string)
	r.check(ok || value == nil, value, "a text")
	return text
}

func (r *replied) number(value any) int64 {
	n, ok := value.(int64)
	r.check(ok || value == nil, value, "a number")
	return n
}

// digits reads a number that is stored as a text; 0 for none.
func (r *replied) digits(value any) int64 {
	if value == nil {
		return 0
	}
	n, err := strconv.ParseInt(r.text(value), 10, 64)
	if err != nil && r.err == nil {
		r.err = corrupt(cmp.Or(r.of, "number"), err)
	}
	return n
}

// position reads a position that is stored as a text.
func (r *replied) position(value any) uint64 {
	n := r.digits(value)
	r.check(n >= 0, value, "a position")
	return uint64(max(0, n))
}

// message reads a record.
func (r *replied) message(value any, m proto.Message) {
	if err := proto.Unmarshal([]byte(r.text(value)), m); err != nil && r.err == nil {
		r.err = corrupt(cmp.Or(r.of, string(m.ProtoReflect().Descriptor().Name())), err)
	}
}

// texts reads a list of texts.
func (r *replied) texts(list []any) []string {
	all := make([]string, len(list))
	for i, one := range list {
		all[i] = r.text(one)
	}
	return all
}

func (r *replied) check(ok bool, value any, expected string) {
	if !ok && r.err == nil {
		r.err = fmt.Errorf("state: unexpected reply of Redis: %s: %T for %s", cmp.Or(r.of, "a value"), value, expected)
	}
}

// row returns the values of an HMGET or MGET: for each name, a text, or nil where there is none.
func (r *replied) row(cmd *redis.SliceCmd) []any {
	names := len(cmd.Args()) - 1
	if cmd.Name() == "hmget" {
		names--
	}
	row, err := cmd.Result()
	if err == nil && len(row) != names {
		err = fmt.Errorf("state: unexpected reply of %s: %d values for %d names", cmd.Name(), len(row), names)
	}
	if err != nil {
		r.err = cmp.Or(r.err, unavailable(err))
		return make([]any, names)
	}
	r.texts(row)
	return row
}

// rowOf reads one row.
func rowOf(cmd *redis.SliceCmd) ([]any, error) {
	var in replied
	row := in.row(cmd)
	return row, in.err
}

// listOf returns a value of a reply as a list of at least n values.
func listOf(reply any, n int) ([]any, error) {
	list, ok := reply.([]any)
	if !ok || len(list) < n {
		return nil, fmt.Errorf("state: unexpected reply of Redis: %T", reply)
	}
	return list, nil
}
