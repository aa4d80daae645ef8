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
	"go docs/clients.md": `var (
	ctx     context.Context
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
	"go docs/latency.md":  "var ctx context.Context\nvar api *client.Client\nvar network string\n",
	"go docs/webhooks.md": "var r *http.Request\nvar secret string\nvar store func(*client.WebhookEvent) error\n",
	"go functions/README.md": `var r *matchfn.Run
var tickets []uint32
var score, gap, chance float64
`,
	"ts docs/clients.md": `declare const login: (why: string) => Promise<string>
declare const show: (update: { state: string }) => void
`,
	"ts docs/latency.md": `declare const url: string, project: string, network: string
declare const token: () => Promise<string>
`,
	"ts docs/webhooks.md":         "declare const request: Request, secret: string\n",
	"ts sdk/typescript/README.md": "declare const show: (update: { state: string }) => void\n",
}

var (
	code = regexp.MustCompile("(?ms)^```(go|ts)\n(.*?)^```$")
	// Pages leave out what comes next.
	unused = regexp.MustCompile(`(?m)^(#.*|.*(declared and not used|imported and not used).*)\n`)
)

// compile compiles the code of all pages as it stands: Go as a function each, TypeScript as a module each.
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
			if language == "ts" {
				write("sdk/typescript/pages/"+name+".ts", block+names)
				continue
			}
			write("test/code/"+name+"/page.go", imports+names+"\nfunc _() error {\n"+block+"\nreturn nil\n}\n")
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
		".":              "go build -gcflags=-e ./test/code/...",
	} {
		words := strings.Fields(command)
		cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
		cmd.Dir = filepath.Join(tree, folder)
		out, err := cmd.CombinedOutput()
		if text := unused.ReplaceAllString(string(out), ""); text != "" || err != nil && len(out) == 0 {
			t.Errorf("%s: %v\n%s", command, err, text)
		}
	}
}
