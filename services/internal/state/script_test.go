package state

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"
	luaparse "github.com/yuin/gopher-lua/parse"
)

// loaded loads every script.
func loaded(t *testing.T) map[string]*script {
	t.Helper()
	all := map[string]*script{}
	for name, load := range scripts() {
		all[name] = load()
	}
	if len(all) < 20 {
		t.Fatalf("%d scripts", len(all))
	}
	return all
}

// It also finds names that a script declares and does not use.
func TestScriptHeadersAreWellFormed(t *testing.T) {
	label := regexp.MustCompile(`^-- ([A-Za-z]+):`)
	comment := regexp.MustCompile(`(?m)^ *--.*`)
	list := regexp.MustCompile(`^([a-z][a-z0-9_]*)(, [a-z][a-z0-9_]*)*(, then .+)?$|^then .+$`)
	err := fs.WalkDir(sources, "script", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text := source(strings.TrimSuffix(strings.TrimPrefix(path, "script/"), ".lua"))
		if _, err := luaparse.Parse(strings.NewReader(text), path); err != nil {
			t.Errorf("%s is not plain Lua: %v", path, err)
		}
		if lines := strings.Count(text, "\n"); lines > 150 {
			t.Errorf("%s has %d lines, more than 150", path, lines)
		}
		for line := range strings.Lines(text) {
			if m := label.FindStringSubmatch(line); m != nil &&
				!slices.Contains([]string{"Uses", "Reads", "Full", "KEYS", "ARGV", "Result", "Error"}, m[1]) {
				t.Errorf("%s: %s: unknown label", path, m[1])
			}
			if length := len([]rune(strings.TrimRight(line, "\n"))); length > 120 {
				t.Errorf("%s has a line of %d characters", path, length)
			}
		}
		for _, m := range declaration.FindAllStringSubmatch(text, -1) {
			declared := strings.Join(strings.Fields(strings.ReplaceAll(remark.ReplaceAllString(m[2], ""), "\n--", "")), " ")
			declared = strings.ReplaceAll(declared, " ,", ",")
			if !list.MatchString(declared) {
				t.Errorf("%s: %s: not a list of names: %s", path, m[1], declared)
			}
		}
		h, used := headerOf(text), comment.ReplaceAllString(text, "")
		for _, use := range h.uses {
			included := source("include/" + use)
			if included == "" {
				t.Errorf("%s uses %s, which is no file in include", path, use)
			}
			used += " " + strings.Join(headerOf(included).reads, " ")
		}
		for _, name := range slices.Concat(h.keys, h.args) {
			if !regexp.MustCompile(`\b` + name + `\b`).MatchString(used) {
				t.Errorf("%s does not use %s", path, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Scripts that add by a caller's wish, or what can be missing, and no others, are refused when Redis is full. Otherwise
// a full Redis locks itself: all that frees memory is written under a lease, and a lease needs some.
func TestScriptsSayWhatTheyDoWhenRedisIsFull(t *testing.T) {
	adding := []string{"ticket_create", "backfill_create", "project_add", "report_put", "standing_put"}
	for name, s := range loaded(t) {
		want := "-- Full: runs\n"
		if slices.Contains(adding, name) {
			want = "-- Full: refused\n"
		}
		if strings.Count(s.source, "-- Full:") != 1 || !strings.Contains(s.source, want) {
			t.Errorf("the header of %s must have the line %q", name, want)
		}
		if got := strings.HasPrefix(s.text, allowOOM); got == slices.Contains(adding, name) {
			t.Errorf("%s runs when Redis is full: %t", name, got)
		}
	}
}

// Each call of a script names all arguments, in the header's order.
func TestCallsNameTheArgumentsOfTheHeader(t *testing.T) {
	scripts := loaded(t)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]bool{}
	positions := token.NewFileSet()
	for _, name := range files {
		file, err := parser.ParseFile(positions, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			c, ok := n.(*ast.CallExpr)
			if !ok || len(c.Args) < 3 {
				return true
			}
			method, ok := c.Fun.(*ast.SelectorExpr)
			if !ok || method.Sel.Name != "call" {
				return true
			}
			name := ""
			if text, is := c.Args[0].(*ast.BasicLit); is {
				name, _ = strconv.Unquote(text.Value)
			}
			s := scripts[name]
			if s == nil {
				t.Errorf("%s: %s is not a script", positions.Position(c.Pos()), name)
				return true
			}
			calls[name] = true
			var got []string
			for i := 3; i < len(c.Args); i += 2 {
				if text, ok := c.Args[i].(*ast.BasicLit); ok {
					name, _ := strconv.Unquote(text.Value)
					got = append(got, name)
				}
			}
			want := s.args
			want = want[len(s.included):]
			if !slices.Equal(got, want) || len(c.Args)%2 != 1 {
				t.Errorf("%s: the arguments are %v, the header of the script has %v", positions.Position(c.Pos()), got, want)
			}
			return true
		})
	}
	for name := range scripts {
		if !calls[name] {
			t.Errorf("no call of %s was found", name)
		}
	}
}

// It finds typing errors, and keys that an include needs and a script does not declare.
func TestScriptsUseOnlyDeclaredNames(t *testing.T) {
	known := []string{"KEYS", "ARGV", "redis", "unpack", "ipairs", "pairs", "tonumber", "math", "string", "table",
		"rawget", "_G"}
	for name, s := range loaded(t) {
		chunk, err := luaparse.Parse(strings.NewReader(strings.TrimPrefix(s.text, allowOOM)), name)
		if err != nil {
			t.Fatal(err)
		}
		compiled, err := lua.Compile(chunk, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, global := range globalsOf(compiled) {
			if !slices.Contains(known, global) {
				t.Errorf("%s: %s is neither declared nor known", name, global)
			}
		}
	}
}

// load puts keys and arguments in place of all words in includes that are their names: none may be in a literal, or
// be a variable's name.
func TestNamesThatIncludesReadAreNothingElse(t *testing.T) {
	literal := regexp.MustCompile(`'[^'\n]*'|"[^"\n]*"|\bfunction [a-z_]*\([^)]*\)|\b(?:local|for) [a-z0-9_, ]*(?:KEYS|ARGV)\[`)
	for name, s := range loaded(t) {
		for _, found := range literal.FindAllString(comment.ReplaceAllString(s.text, ""), -1) {
			if strings.Contains(found, "KEYS[") || strings.Contains(found, "ARGV[") {
				t.Errorf("%s: %s: an include reads a key or an argument of this name", name, found)
			}
		}
	}
}

// globalsOf lists the global variables that a function and its inner functions read or write.
func globalsOf(f *lua.FunctionProto) (names []string) {
	for _, instruction := range f.Code {
		if op := int(instruction >> 26); op == lua.OP_GETGLOBAL || op == lua.OP_SETGLOBAL {
			names = append(names, f.Constants[instruction&0x3ffff].String())
		}
	}
	for _, inner := range f.FunctionPrototypes {
		names = append(names, globalsOf(inner)...)
	}
	return names
}
