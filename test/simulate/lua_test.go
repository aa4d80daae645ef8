package simulate

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// scripts runs the scripts of a Redis in this process. That Redis makes a new Lua for each run of a script, and a new
// connection for each command of it, which takes most of a world's time. This has one of each.
type scripts struct {
	redis *miniredis.Miniredis
	lua   *lua.LState
	known map[string]*lua.FunctionProto // by their hashes
	texts map[*lua.FunctionProto]string
	inner *server.Peer
	reply bytes.Buffer
	// replica is the id of this Redis, which is another one after a takeover. ran, if not nil, gets each script that was
	// carried out.
	replica string
	ran     func(text string)
}

// strict lets no script make a global variable, or read one that is not there.
const strict = `setmetatable(_G, {
	__newindex = function(_, name) error('Script attempted to create global variable ' .. tostring(name), 2) end,
	__index = function(_, name) error('Script attempted to access nonexistent global variable ' .. tostring(name), 2) end})`

func newScripts(redis *miniredis.Miniredis) (*scripts, error) {
	s := &scripts{redis: redis, known: map[string]*lua.FunctionProto{}, texts: map[*lua.FunctionProto]string{}}
	s.inner = server.NewPeer(bufio.NewWriter(&s.reply))
	s.lua = lua.NewState(lua.Options{SkipOpenLibs: true, RegistrySize: 1 << 14, RegistryMaxSize: 1 << 20})
	for _, library := range []struct {
		name string
		open lua.LGFunction
	}{
		{lua.LoadLibName, lua.OpenPackage}, // must be the first
		{lua.BaseLibName, lua.OpenBase}, {lua.TabLibName, lua.OpenTable}, {lua.StringLibName, lua.OpenString},
		{lua.MathLibName, lua.OpenMath},
	} {
		s.lua.Push(s.lua.NewFunction(library.open))
		s.lua.Push(lua.LString(library.name))
		s.lua.Call(1, 0)
	}
	module := s.lua.NewTable()
	module.RawSetString("call", s.lua.NewFunction(s.call))
	module.RawSetString("pcall", s.lua.NewFunction(s.info))
	module.RawSetString("sha1hex", s.lua.NewFunction(func(l *lua.LState) int {
		sum := sha1.Sum([]byte(l.CheckString(1)))
		l.Push(lua.LString(hex.EncodeToString(sum[:])))
		return 1
	}))
	module.RawSetString("error_reply", s.lua.NewFunction(func(l *lua.LState) int {
		t := l.NewTable()
		t.RawSetString("err", l.CheckAny(1))
		l.Push(t)
		return 1
	}))
	for name, v := range map[string]lua.LValue{"redis": module, "KEYS": lua.LNil, "ARGV": lua.LNil} {
		s.lua.SetGlobal(name, v)
	}
	return s, s.lua.DoString(strict)
}

func (s *scripts) close() { s.lua.Close() }

// run carries out a command that runs a script, and appends the reply. It returns false for other commands.
func (s *scripts) run(command []string, to *bytes.Buffer) (is bool) {
	var proto *lua.FunctionProto
	switch {
	case len(command) < 3:
		return false
	case strings.EqualFold(command[0], "EVALSHA"):
		if proto = s.known[command[1]]; proto == nil {
			to.WriteString("-NOSCRIPT No matching script. Please use EVAL.\r\n")
			return true
		}
	case strings.EqualFold(command[0], "EVAL"):
		var err error
		if proto, err = s.load(command[1]); err != nil {
			fmt.Fprintf(to, "-ERR %s\r\n", oneLine(err.Error()))
			return true
		}
	default:
		return false
	}
	keys, err := strconv.Atoi(command[2])
	if err != nil || keys < 0 || keys > len(command)-3 {
		to.WriteString("-ERR the number of keys is wrong\r\n")
		return true
	}
	globals := s.lua.G.Global
	globals.RawSetString("KEYS", s.list(command[3:3+keys]))
	globals.RawSetString("ARGV", s.list(command[3+keys:]))
	s.lua.Push(s.lua.NewFunctionFromProto(proto))
	if err := s.lua.PCall(0, 1, nil); err != nil {
		fmt.Fprintf(to, "-ERR %s\r\n", oneLine(err.Error()))
	} else {
		write(to, s.lua.Get(-1))
		if s.ran != nil {
			s.ran(s.texts[proto])
		}
	}
	s.lua.SetTop(0)
	return true
}

// load compiles a script. Its first line may have flags, which Lua does not know.
func (s *scripts) load(text string) (*lua.FunctionProto, error) {
	sum := sha1.Sum([]byte(text))
	name := hex.EncodeToString(sum[:])
	if known := s.known[name]; known != nil {
		return known, nil
	}
	if flags, is := strings.CutPrefix(text, "#!"); is {
		text = "--" + flags
	}
	chunk, err := parse.Parse(strings.NewReader(text), name)
	if err != nil {
		return nil, err
	}
	proto, err := lua.Compile(chunk, name)
	if err == nil {
		s.known[name], s.texts[proto] = proto, text
	}
	return proto, err
}

// info is redis.pcall, which scripts use for INFO alone.
func (s *scripts) info(l *lua.LState) int {
	l.Push(lua.LString("master_replid:" + s.replica + "\r\n"))
	return 1
}

func (s *scripts) list(words []string) *lua.LTable {
	t := s.lua.CreateTable(len(words), 0)
	for _, word := range words {
		t.Append(lua.LString(word))
	}
	return t
}

// call is redis.call.
func (s *scripts) call(l *lua.LState) int {
	command := make([]string, l.GetTop())
	for i := range command {
		switch word := l.Get(i + 1).(type) {
		case lua.LString:
			command[i] = string(word)
		case lua.LNumber:
			command[i] = word.String()
		default:
			l.RaiseError("an argument of %v is a %s", command, word.Type())
		}
	}
	s.reply.Reset()
	s.redis.Server().Dispatch(s.inner, command)
	s.inner.Flush()
	value, _, err := s.read(s.reply.Bytes())
	if err != nil {
		l.RaiseError("%s: %v", command[0], err)
	}
	l.Push(value)
	return 1
}

// read reads a reply as scripts see it, and returns what is behind it.
func (s *scripts) read(reply []byte) (v lua.LValue, rest []byte, err error) {
	line, rest, ok := bytes.Cut(reply, []byte("\r\n"))
	if !ok || len(line) == 0 {
		return nil, nil, fmt.Errorf("it was answered %q", reply)
	}
	kind, text := line[0], string(line[1:])
	switch kind {
	case '-':
		return nil, rest, fmt.Errorf("%s", text)
	case '+':
		t := s.lua.NewTable()
		t.RawSetString("ok", lua.LString(text))
		return t, rest, nil
	}
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return nil, rest, err
	case kind == ':':
		return lua.LNumber(n), rest, nil
	case n < 0:
		return lua.LFalse, rest, nil
	case kind == '$':
		return lua.LString(rest[:n]), rest[n+2:], nil
	}
	t := s.lua.CreateTable(n, 0)
	for range n {
		if v, rest, err = s.read(rest); err != nil {
			return nil, rest, err
		}
		t.Append(v)
	}
	return t, rest, nil
}

// write writes what a script returns.
func write(to *bytes.Buffer, v lua.LValue) {
	switch v := v.(type) {
	case lua.LNumber:
		fmt.Fprintf(to, ":%d\r\n", int64(v))
	case lua.LString:
		fmt.Fprintf(to, "$%d\r\n%s\r\n", len(v), string(v))
	case lua.LBool:
		if v {
			to.WriteString(":1\r\n")
		} else {
			to.WriteString("$-1\r\n")
		}
	case *lua.LTable:
		if text := v.RawGetString("err"); text != lua.LNil {
			fmt.Fprintf(to, "-%s\r\n", oneLine(text.String()))
			return
		}
		if text := v.RawGetString("ok"); text != lua.LNil {
			fmt.Fprintf(to, "+%s\r\n", oneLine(text.String()))
			return
		}
		n := 0
		for v.RawGetInt(n+1) != lua.LNil {
			n++
		}
		fmt.Fprintf(to, "*%d\r\n", n)
		for i := range n {
			write(to, v.RawGetInt(i+1))
		}
	default:
		to.WriteString("$-1\r\n")
	}
}

func oneLine(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r", " "), "\n", " ")
}
