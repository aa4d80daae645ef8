//go:build linux

package pages

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// imports are what code in Go may use without saying so.
const imports = `package page

import (
	"context"
	"errors"
	"net/http"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/pkg/client/clienttest"
	"matchmaker.dev/pkg/matchfn"
)

`

// declared are the names that the code of a page has from the program around it, by language and page.
var declared = map[string]string{
	"go pkg/client/README.md": `var (
	ctx     context.Context
	seen    func(*client.Party)
	login   func(context.Context, client.TokenReason) (string, error)
	save    func(*client.SavedSearch)
	show    func(client.TicketEvent)
	tell    func(string) error
	connect func(connection, seat string) error
)
`,
	"go docs/backfill.md": `var (
	ctx  context.Context
	api  *client.Client
	id   string
	game struct {
		expect  func([]client.Ticket)
		vacancy func() client.BackfillRequest
	}
)
`,
	"go docs/seats.md": `var (
	ctx     context.Context
	pass    string
	payload struct{ Project, Match, BackfillTicket string }
)
`,
	"go docs/ratings.md":  "var ctx context.Context\nvar server *client.Client\nvar match string\n",
	"go docs/webhooks.md": "var r *http.Request\nvar secret string\nvar store func(*client.WebhookEvent) error\n",
	"go functions/README.md": `var r *matchfn.Run
var tickets []uint32
var score, gap, chance float64
`,
	"ts sdk/typescript/README.md": `declare const login: (why: string) => Promise<string>
declare const show: (update: { state: string }) => void
declare const play: (match: { connection: string }) => void
declare const tell: (...what: unknown[]) => void
`,
	"cpp sdk/cpp/README.md": `bool running = false;
std::string match, pass;
std::vector<matchmaker::api::ReportedTeam> teams;
void login(matchmaker::Why, std::function<void(matchmaker::Token)>);
void show(const matchmaker::Update&);
void play(const matchmaker::Match&);
void tell(const std::string&);
void expect(const std::vector<matchmaker::api::Ticket>&);
void letIn(const std::string&);
matchmaker::api::BackfillRequest vacancy();
`,
	"csharp sdk/csharp/README.md": `static bool running;
static string match, pass;
static List<Matchmaking.Api.ReportedTeam> teams;
static Matchmaker matchmaker;
static void Login(Why why, Action<string> reply) { }
static void Show(Update update) { }
static void Play(Match match) { }
static void Tell(string text) { }
static void Expect(List<Matchmaking.Api.Ticket> joined) { }
static void LetIn(string player) { }
static Matchmaking.Api.BackfillRequest Vacancy() => null;
`,
	"ts docs/webhooks.md": "declare const request: Request, secret: string\n",
}

var (
	code = regexp.MustCompile("(?ms)^```(go|ts|cpp|csharp)\n(.*?)^```$")
	// What stands before all else in a file.
	imported = regexp.MustCompile(`(?m)^(#include .*|using [A-Z].*;)\n`)
	// Pages leave out what comes next.
	unused = regexp.MustCompile(`(?m)^(#.*|.*(declared and not used|imported and not used).*)\n`)
)

// compile compiles the code of all pages as it stands: TypeScript as a module each, other languages as a function each.
// What needs an engine is compiled by make sdk.
func compile(t *testing.T, tree string) {
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(tree, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, page := range strings.Fields(run(t, tree, "find", ".", "-name", "*.md", "-printf", "%P\n")) {
		text, err := os.ReadFile(filepath.Join(tree, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range code.FindAllSubmatchIndex(text, -1) {
			language, block := string(text[at[2]:at[3]]), string(text[at[4]:at[5]])
			name := fmt.Sprintf("%s-%d", strings.NewReplacer("/", "-", ".md", "").Replace(page),
				strings.Count(string(text[:at[4]]), "\n")+1)
			names := declared[language+" "+page]
			begin := strings.Join(imported.FindAllString(block, -1), "")
			body := "{\n" + imported.ReplaceAllString(block, "") + "}\n"
			switch {
			case language == "ts":
				write("sdk/typescript/pages/"+name+".ts", block+names)
			case language == "go":
				write("test/code/"+name+"/page.go", imports+names+"\nfunc _() error {\n"+block+"\nreturn nil\n}\n")
			case page == "sdk/unity/README.md" || page == "sdk/unreal/README.md":
			case names == "":
				t.Errorf("%s: the names that its code in %s has are not declared", page, language)
			case language == "cpp":
				write("sdk/cpp/pages/"+name+".cc", "#include \"matchmaker/matchmaker.h\"\n"+begin+names+
					"void page([[maybe_unused]] matchmaker::Matchmaker& matchmaker) {"+body+"}\n")
			case language == "csharp":
				write("sdk/csharp/pages/"+name+".cs", "using System;\nusing System.Linq;\nusing System.Collections.Generic;\n"+
					begin+"static class "+strings.NewReplacer("-", "_").Replace(name)+" {\n"+names+
					"static void Page() "+body+"}\n")
			}
		}
	}
	write("sdk/typescript/pages/tsconfig.json", `{
		"extends": "../tsconfig.json",
		"compilerOptions": {
			"target": "ES2022", "module": "ES2022", "rootDir": "..", "noEmit": true, "noUnusedLocals": false
		},
		"include": [".", "../types"]
	}`)
	for folder, command := range map[string]string{
		"sdk/typescript": "node node_modules/typescript/bin/tsc -p pages",
		"sdk/cpp":        "g++ -std=c++17 -fno-exceptions -fno-rtti -fsyntax-only -Wall -Iinclude pages/*.cc",
		"sdk/csharp": "mcs -langversion:7 -warn:0 -target:library -out:pages.dll -r:System.Net.Http.dll " +
			"-r:System.Numerics.dll src/*.cs pages/*.cs",
		".": "go build -gcflags=-e ./test/code/...",
	} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
		cmd.Dir = filepath.Join(tree, folder)
		out, err := cmd.CombinedOutput()
		if text := unused.ReplaceAllString(string(out), ""); text != "" || err != nil && len(out) == 0 {
			t.Errorf("%s: %v\n%s", command, err, text)
		}
	}
}
