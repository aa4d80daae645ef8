package state

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

//go:embed script
var sources embed.FS

// scripts are all scripts, by the names of their files. Each is loaded when it is first used: all of them take 20 ms,
// and each instance of a function is a process of this binary.
var scripts = sync.OnceValue(func() map[string]func() *script {
	files, _ := fs.Glob(sources, "script/*.lua") // the pattern is right
	all := make(map[string]func() *script, len(files))
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".lua")
		all[name] = sync.OnceValue(func() *script { return load(name) })
	}
	return all
})

// script is a Lua script. The comment at its top declares its keys and arguments:
//
//	-- Uses: change, backfill
//	-- Full: runs
//	-- KEYS: waiting, match, then ticket…
//	-- ARGV: match_id, owner ('' = any), then id, assignment…
//
// Uses lists files of the folder include. The used parts of their text, KEYS and ARGV come before the script's own;
// their Reads are names of the script that they use. KEYS and ARGV name the keys and arguments, in order. load makes
// local variables of the names, and call builds the keys from them. Text in parentheses is a remark. The names after
// "then" may be repeated: first_key and first_arg are where they begin. Names in capitals are those of
// include/names.lua.
//
// Full says what a script does when Redis has reached its maxmemory. A script that runs takes work further, frees
// memory or changes something that exists. A script that is refused adds something for a caller.
//
// Tests check the headers, and that calls name the arguments in the order of the header.
type script struct {
	*redis.Script
	// source is the text of its files, text what Redis gets.
	source, text string
	keys         []keyName
	args         []string
	// included are the names of the includes' arguments, which call adds. The script's own follow.
	included []string
}

// allowOOM is the first line of scripts that run when Redis is full. With such a line Redis holds that a script of a
// cluster uses keys of one slot alone.
const allowOOM = "#!lua flags=allow-oom\n"

func load(file string) *script {
	body := source(file)
	h := headerOf(body)
	s, keys, reads, includes := &script{}, []string(nil), []string(nil), ""
	for _, use := range h.uses {
		text := source("include/" + use)
		included := headerOf(text)
		keys, s.args = append(keys, included.keys...), append(s.args, included.args...)
		reads = slices.Concat(reads, included.reads, included.keys, included.args)
		includes += text
	}
	s.source = includes + body
	// Unused functions, keys and arguments, and variables of enclosing functions, would cost time at every call.
	for _, at := range slices.Backward(function.FindAllStringSubmatchIndex(includes, -1)) {
		if call := includes[at[2]:at[3]] + "("; !strings.Contains(includes[at[1]:]+body, call) {
			includes = includes[:at[0]] + includes[at[1]:]
		}
	}
	used := word.FindAllString(comment.ReplaceAllString(includes, ""), -1)
	isUnused := func(name string) bool { return !slices.Contains(used, name) }
	keys, s.args = slices.DeleteFunc(keys, isUnused), slices.DeleteFunc(s.args, isUnused)
	before := [2]int{len(keys), len(s.args)}
	s.included = s.args[:before[1]:before[1]]
	keys, s.args = append(keys, h.keys...), append(s.args, h.args...)
	for _, key := range keys {
		s.keys = append(s.keys, cmp.Or(keyNames[key], keyName{suffix: turns.Replace(key)}))
	}
	includes = word.ReplaceAllStringFunc(includes, func(name string) string {
		if !slices.Contains(reads, name) {
			return name
		} else if i := slices.Index(keys, name); i >= 0 {
			return fmt.Sprintf("KEYS[%d]", i+1)
		} else if i := slices.Index(s.args, name); i >= 0 {
			return fmt.Sprintf("ARGV[%d]", i+1)
		}
		return name
	})
	prologue := "local KEYS, ARGV = KEYS, ARGV\n" + bind("KEYS", keys, before[0]) + bind("ARGV", s.args, before[1])
	if strings.Contains(body, "first_") {
		prologue += fmt.Sprintf("local first_key, first_arg = %d, %d\n", len(keys)+1, len(s.args)+1)
	}
	s.text = constant.ReplaceAllStringFunc(includes+prologue+body, func(name string) string {
		return cmp.Or(constants()[name], name)
	})
	if h.runsFull {
		s.text = allowOOM + s.text
	}
	s.Script = redis.NewScript(s.text)
	return s
}

func source(file string) string {
	text, _ := sources.ReadFile("script/" + file + ".lua") // a test reads them all
	// mistake *: text = plant(text)
	return string(text)
}

// constants returns the constants of include/names.lua, with their values.
var constants = sync.OnceValue(func() map[string]string {
	values := map[string]string{}
	for _, line := range regexp.MustCompile(`(?m)^local (.+) = (.+)$`).FindAllStringSubmatch(source("include/names"), -1) {
		names := strings.Split(line[1], ", ")
		for i, value := range strings.Split(line[2], ", ") {
			values[names[i]] = value
		}
	}
	return values
})

// header is what the comment at the top of a script declares.
type header struct {
	uses, reads, keys, args []string
	runsFull                bool
}

var (
	declaration = regexp.MustCompile(`(?m)^-- (Uses|Reads|Full|KEYS|ARGV): (.*(?:\n--  .*)*)`)
	comment     = regexp.MustCompile(`(?m)--.*$`)
	remark      = regexp.MustCompile(`\([^()]*\)`)
	word        = regexp.MustCompile(`\b[a-z][a-z0-9_]*\b`)
	constant    = regexp.MustCompile(`\b[A-Z][A-Z_]+\b`)
	function    = regexp.MustCompile(`(?ms)^local function ([a-z_]+)\(.*?^end\n`)
)

func headerOf(text string) (h header) {
	for _, match := range declaration.FindAllStringSubmatch(text, -1) {
		fixed, _, _ := strings.Cut(remark.ReplaceAllString(match[2], ""), "then ")
		names := word.FindAllString(fixed, -1)
		switch match[1] {
		case "Uses":
			h.uses = names
		case "Reads":
			h.reads = names
		case "Full":
			h.runsFull = match[2] == "runs"
		case "KEYS":
			h.keys = names
		case "ARGV":
			h.args = names
		}
	}
	return h
}

// bind declares local variables for elements of a table, from a number on.
func bind(table string, names []string, from int) string {
	if names = names[from:]; len(names) == 0 {
		return ""
	}
	elements := make([]string, len(names))
	for i := range names {
		elements[i] = fmt.Sprintf("%s[%d]", table, from+i+1)
	}
	return fmt.Sprintf("local %s = %s\n", strings.Join(names, ", "), strings.Join(elements, ", "))
}

// call is a call of a script.
type call struct {
	script *script
	keys   []string
	args   []any
}

// call prepares a call of a script. named are name, value pairs of the arguments. A test compares names with the files
// and their headers. The caller appends the keys and the arguments that repeat.
func (s *Store) call(name string, k keys, of ids, named ...any) call {
	script := scripts()[name]()
	c := call{script: script, keys: k.named(script.keys, of), args: make([]any, 0, len(script.args)+8)}
	for _, name := range script.included {
		c.args = append(c.args, s.argumentOf(name))
	}
	for i := 1; i < len(named); i += 2 {
		c.args = append(c.args, named[i])
	}
	return c
}

// argumentOf returns the value of an include's argument.
func (s *Store) argumentOf(name string) any {
	if name == "set_time" {
		// mistake clock: return s.measured.host().UnixMicro()
		if s.clock != nil {
			return s.clock().UnixMicro()
		}
	}
	return cmp.Or(s.arguments[name], any(""))
}

// addKeys adds the keys of ids, and addArgs texts.
func (c *call) addKeys(key func(id string) string, ids []string) {
	for _, id := range ids {
		c.keys = append(c.keys, key(id))
	}
}

func (c *call) addArgs(texts []string) {
	for _, text := range texts {
		c.args = append(c.args, text)
	}
}

// addEach adds the keys of ids, and the ids.
func (c *call) addEach(key func(id string) string, ids []string) {
	c.addKeys(key, ids)
	c.addArgs(ids)
}

// assignments adds the keys of tickets, their ids and their assignments.
func (c *call) assignments(k keys, tickets []string, assignments []*pb.Assignment) error {
	if len(tickets) != len(assignments) {
		return errors.New("state: a claim does not have an assignment for each of its tickets")
	}
	for i, id := range tickets {
		body, err := proto.Marshal(assignments[i])
		if err != nil {
			return corrupt("assignment", err)
		}
		c.keys = append(c.keys, k.ticket(id))
		c.args = append(c.args, id, body)
	}
	return nil
}

// run runs a script by its hash, and by its text when Redis does not know it yet.
func (s *Store) run(ctx context.Context, c call) (any, error) {
	reply, err := c.script.Run(ctx, s.redis, c.keys, c.args...).Result()
	return reply, unavailable(err)
}

// runAll makes all calls in one round trip, and in order when Redis knows the scripts. A single one, of a project,
// shares a round trip with other callers. What they did is known even when ctx ends. It returns the first error, and a
// reply to each call, nil for a call that failed.
func (s *Store) runAll(ctx context.Context, project string, calls []call) (replies []any, failed error) {
	ctx = context.WithoutCancel(ctx)
	if len(calls) == 1 {
		reply, err := s.runShared(ctx, project, calls[0])
		return []any{reply}, err
	}
	cmds := make([]*redis.Cmd, len(calls))
	// Each command has its own error, which is read below.
	_, _ = s.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, c := range calls {
			cmds[i] = c.script.EvalSha(ctx, p, c.keys, c.args...)
		}
		return nil
	})
	replies = make([]any, len(calls))
	for i, cmd := range cmds {
		reply, err := cmd.Result()
		if isUnknown(err) {
			reply, err = calls[i].script.Run(ctx, s.redis, calls[i].keys, calls[i].args...).Result()
		}
		if failed = cmp.Or(failed, unavailable(err)); err == nil {
			replies[i] = reply
		}
	}
	return replies, failed
}

// isUnknown reports whether Redis does not know a script by its hash.
func isUnknown(err error) bool { return err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") }
