package policy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// instead has the words that no name may contain, in the singular, and what we say instead.
var instead = map[string]string{
	"asker":      "requester",
	"believe":    "apply, or check",
	"census":     "population",
	"complain":   "log",
	"complaint":  "FunctionError, or finding",
	"contest":    "evaluator",
	"course":     "segment",
	"crew":       "semaphore",
	"desk":       "invocation",
	"fault":      "problem, error or failure",
	"flight":     "run",
	"grip":       "lease",
	"hearing":    "subscription",
	"heed":       "watch",
	"keeping":    "session",
	"lament":     "log",
	"lineup":     "arrangement",
	"payload":    "fields",
	"poker":      "notifier",
	"ration":     "budget",
	"reluctance": "cost",
	"resource":   "response",
	"seat":       "slot",
	"shelf":      "cache",
	"teller":     "describer",
	"trouble":    "error",
	"twos":       "pair",
}

// allowed has the folders in which a word is the field's own.
var allowed = map[string][]string{
	"believe":    {"services/registry"},
	"fault":      {"services/allocator", "test"}, // that tests inject
	"keeping":    {"services/director", "services/runner", "lab"},
	"payload":    {"services/allocator", "test"},           // that a hosting system gives to a game server
	"reluctance": {"pkg/matchfn/rules", "functions/rules"}, // a word of the rule language
	"resource":   {"services/allocator/agones", "services/internal/sandbox", "services/internal/observe", "test"},
	// A player's, in a game.
	"seat": {"pkg", "functions", "deploy", "services/ticket", "services/director", "services/config",
		"services/internal/match/assignment", "services/internal/platform/catalog", "services/internal/match/definition",
		"services/internal/edge/response", "services/internal/state", "services/cmd", "test"},
}

// participles, and tell, say neither what a function does nor what it returns.
var participles = []string{
	"tell", "told", "staged", "held", "called", "answered", "known", "gone", "heard", "kept", "taken", "lost", "seen",
	"given",
}

func TestNamesAreWordsOfTheField(t *testing.T) {
	walk(t, func(name string) {
		if path.Ext(name) == ".go" && !strings.HasSuffix(name, ".pb.go") {
			checkNames(t, name)
		}
	})
}

func within(folders []string, name string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return strings.HasPrefix(name, folder+"/") })
}

func checkNames(t *testing.T, name string) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, read(t, name), parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if word := forbidden(name, strings.TrimSuffix(path.Base(name), ".go")); word != "" {
		t.Errorf("%s: the file's name has the word %q: say %s", name, word, instead[word])
	}
	for id := range declared(file) {
		if word := forbidden(name, id.Name); word != "" {
			t.Errorf("%s: the name %s has the word %q: say %s", files.Position(id.Pos()), id.Name, word, instead[word])
		}
	}
	if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "test/") {
		return
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && slices.Contains(participles, f.Name.Name) {
			t.Errorf("%s: the function's name %s says neither what it does nor what it returns", files.Position(f.Pos()),
				f.Name.Name)
		}
	}
}

// declared are the names that a file declares.
func declared(file *ast.File) func(yield func(*ast.Ident) bool) {
	return func(yield func(*ast.Ident) bool) {
		more := true
		each := func(list ...*ast.Ident) {
			for _, id := range list {
				more = more && yield(id)
			}
		}
		fields := func(list *ast.FieldList) {
			if list != nil {
				for _, f := range list.List {
					each(f.Names...)
				}
			}
		}
		each(file.Name)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				each(n.Name)
				fields(n.Recv)
			case *ast.TypeSpec:
				each(n.Name)
			case *ast.ValueSpec:
				each(n.Names...)
			case *ast.StructType:
				fields(n.Fields)
			case *ast.InterfaceType:
				fields(n.Methods)
			case *ast.FuncType:
				fields(n.Params)
				fields(n.Results)
			case *ast.AssignStmt:
				for _, left := range n.Lhs {
					if id, ok := left.(*ast.Ident); ok && n.Tok == token.DEFINE {
						each(id)
					}
				}
			case *ast.RangeStmt:
				for _, left := range []ast.Expr{n.Key, n.Value} {
					if id, ok := left.(*ast.Ident); ok && n.Tok == token.DEFINE {
						each(id)
					}
				}
			}
			return more
		})
	}
}

// forbidden is a word of a name that may not be in a file, "" if there is none.
func forbidden(file, name string) string {
	name = strings.NewReplacer("inFlight", "", "InFlight", "").Replace(name)
	for _, word := range wordsOf(name) {
		for _, singular := range []string{word, strings.TrimSuffix(word, "s"), strings.ReplaceAll(word, "shelves", "shelf")} {
			if instead[singular] != "" && !within(allowed[singular], file) {
				return singular
			}
		}
	}
	return ""
}

// wordsOf is the words of a name, in lower case: http, server and url of HTTPServerURL.
func wordsOf(name string) []string {
	var words []string
	runes := []rune(name)
	begin := 0
	for i := 1; i <= len(runes); i++ {
		switch {
		case i == len(runes), runes[i] == '_':
		case unicode.IsUpper(runes[i]) && !unicode.IsUpper(runes[i-1]):
		case unicode.IsUpper(runes[i]) && i+1 < len(runes) && unicode.IsLower(runes[i+1]):
		default:
			continue
		}
		words = append(words, strings.Trim(strings.ToLower(string(runes[begin:i])), "_"))
		begin = i
	}
	return words
}

func TestWordsOfNames(t *testing.T) {
	for name, want := range map[string][]string{
		"x":             {"x"},
		"newCourse":     {"new", "course"},
		"HTTPServerURL": {"http", "server", "url"},
		"OnFlight2":     {"on", "flight2"},
	} {
		if got := wordsOf(name); !slices.Equal(got, want) {
			t.Errorf("%s has the words %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"newCourse", "flights", "Faults", "shelves"} {
		if forbidden("services/director/x.go", name) == "" {
			t.Errorf("%s is allowed", name)
		}
	}
	for _, name := range []string{"default", "courseware", "concourse", "seating", "runsInFlight"} {
		if word := forbidden("services/director/x.go", name); word != "" {
			t.Errorf("%s is refused for %s", name, word)
		}
	}
}
