package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"matchmaker.dev/services/internal/edge/problem"
)

// TestReferenceIsGenerated: docs/reference.md has each setting, metric and code of problems as the source describes it.
// With -update it is written.
func TestReferenceIsGenerated(t *testing.T) {
	const page = "../../../docs/reference.md"
	want := "# Reference\n\n" +
		"This page is generated: `go test ./services/cmd/matchmaker -run TestReference -args -update`.\n\n" +
		settingsReference(t) + "\n" + metricsReference(t) + "\n" + codesReference()
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/reference.md is not what the code says; run this test with -update")
	}
}

// settingsReference is a table of the flags of all services.
func settingsReference(t *testing.T) string {
	t.Helper()
	_, all := nodes(t)
	var b strings.Builder
	b.WriteString("## Settings\n\n" +
		"The flags of `matchmaker all`. `matchmaker SERVICE --help` has those of a service and the whole text.\n")
	for _, g := range groups {
		rows := ""
		for _, f := range all["all"].Flags {
			if f.Group == nil || f.Group.Key != g.Key || limit.MatchString(f.Name) {
				continue
			}
			rows += fmt.Sprintf("| `--%s` | %s | %s |\n", f.Name, f.Default, firstPart(f.Help, ". ", "; ", ": ", ", or "))
		}
		if rows != "" {
			b.WriteString("\n### " + strings.TrimSuffix(g.Title, ":") + "\n\n| setting | default | |\n| --- | --- | --- |\n")
			b.WriteString(rows)
		}
	}
	b.WriteString("\n### Limits\n\nOf a limit with *fair* a project may have half of what the others leave free.\n\n" +
		"| setting | default | | |\n| --- | --- | --- | --- |\n")
	for _, f := range all["all"].Flags {
		if f.Group == nil || !limit.MatchString(f.Name) {
			continue
		}
		fair := ""
		if strings.Contains(f.Help, "half of what the others leave") {
			fair = "fair"
		}
		fmt.Fprintf(&b, "| `--%s` | %s | %s | %s |\n", f.Name, f.Default, fair,
			firstPart(f.Help, ". ", "; ", ": ", ", or "))
	}
	return b.String()
}

// limit matches the names of settings that bound what callers can multiply.
var limit = regexp.MustCompile(`^max-(?:[^iw]|instances|waiting)|-(?:rate|burst|budget|total|bytes|versions)$`)

// metricsReference is a table of the instruments that the services' code makes.
func metricsReference(t *testing.T) string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if name, description := instrument(call); name != "" {
					found[name] = description
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 100 {
		t.Errorf("only %d metrics", len(found))
	}
	var b strings.Builder
	b.WriteString("## Metrics\n\nNames are those of Prometheus.\n\n| metric | |\n| --- | --- |\n")
	for _, name := range slices.Sorted(maps.Keys(found)) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, firstPart(found[name], ". ", "; "))
	}
	return b.String()
}

// codesReference is a table of the codes of problems.
func codesReference() string {
	var b strings.Builder
	b.WriteString("## Codes\n\nThe member `code` of problems. *Retry*: the same request may succeed later, after " +
		"`Retry-After` if there is one. A\nlater version may have more codes: a client handles those that it does not know " +
		"by the status. A gateway's own 502, 503\nand 504 are `unavailable`.\n\n" +
		"| code | status | when | retry | what a player may be told |\n| --- | --- | --- | --- | --- |\n")
	for _, d := range problem.Definitions() {
		fmt.Fprintf(&b, "| `%s` | %d | %s | %s | %s |\n", d.Name, d.Status, d.When, map[bool]string{true: "yes"}[d.Retry],
			d.Player)
	}
	return b.String()
}

var unit = regexp.MustCompile(`^(s|By|1|\{\w+\})$`)

// instrument returns the exported name and the description if a call makes an instrument: its arguments have a name, a
// unit unless it is the second, and a sentence.
func instrument(call *ast.CallExpr) (name, description string) {
	at := slices.IndexFunc(call.Args, func(e ast.Expr) bool { return strings.HasPrefix(text(e), "matchmaker.") })
	if at < 0 || len(call.Args) < at+2 {
		return "", ""
	}
	rest := append(call.Args[at+1:len(call.Args):len(call.Args)], &ast.BasicLit{})
	suffix := "_seconds"
	if is := text(rest[0]); unit.MatchString(is) {
		suffix, rest = map[string]string{"s": "_seconds", "By": "_bytes", "1": "_ratio"}[is], rest[1:]
	}
	if description = text(rest[0]); !strings.HasSuffix(description, ".") {
		return "", ""
	}
	name = strings.TrimSuffix(strings.ReplaceAll(text(call.Args[at]), ".", "_"), suffix) + suffix
	if method, ok := call.Fun.(*ast.SelectorExpr); ok && (method.Sel.Name == "Counter" || method.Sel.Name == "Seconds") {
		name += "_total"
	}
	return name, description
}

// text returns the value of a string or of a sum of strings; "" of anything else.
func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, _ := strconv.Unquote(e.Value)
		return s
	case *ast.BinaryExpr:
		return text(e.X) + text(e.Y)
	}
	return ""
}

var (
	inBrackets = regexp.MustCompile(` \([^()]*\)`)
	header     = regexp.MustCompile(`('[A-Z][a-z]+:) `)
)

// firstPart returns a text up to the first of the ends, without what is in brackets, for the cell of a table. The colon
// of a header is no end.
func firstPart(s string, ends ...string) string {
	s = inBrackets.ReplaceAllString(strings.ReplaceAll(s, "|", `\|`), "")
	s = header.ReplaceAllString(s, "$1\n")
	for _, end := range ends {
		s, _, _ = strings.Cut(s, end)
	}
	return strings.ReplaceAll(strings.TrimSuffix(s, "."), "\n", " ")
}
