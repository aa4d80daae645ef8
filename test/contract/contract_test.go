package contract_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/sandbox/sandboxtest"
	"matchmaker.dev/services/test/contract"
	"matchmaker.dev/services/test/launch"
)

// The target of the tests. Without a URL they start a `matchmaker dev`.
var (
	url     = flag.String("url", "", "base address of the system to test, https://host; one of its own when empty")
	project = flag.String("project", "contract", "project to work in; nobody else should use it meanwhile")
	data    = flag.String("data", "", "the --data folder of a matchmaker dev, whose keys sign the tokens; "+
		"else tokens are CONTRACT_DEVELOPER_TOKEN and so on")
	hosting = flag.Bool("hosting", false, "the system can allocate game servers")
)

func TestContract(t *testing.T) {
	target := contract.Target{URL: strings.TrimSuffix(*url, "/"), Project: *project, Hosting: *hosting}
	switch {
	case *url == "":
		target = dev(t)
	case *data != "":
		target.Token, target.Another, target.Hosting = minted(t, *data), contract.Another, true
	default:
		target.Token = func(a contract.Actor) (string, error) {
			return os.Getenv("CONTRACT_" + strings.ToUpper(string(a)) + "_TOKEN"), nil
		}
	}
	contract.Run(t, target)
}

// dev starts a `matchmaker dev`.
func dev(t *testing.T) contract.Target {
	t.Helper()
	binary, folder := filepath.Join(t.TempDir(), "matchmaker"), t.TempDir()
	if err := sandboxtest.Program(binary, "matchmaker.dev/services/cmd/matchmaker"); err != nil {
		t.Fatal(err)
	}
	args := []string{"dev", "--listen", "127.0.0.1:0", "--data", folder, "--log-level", "error"}
	server, err := launch.Start(t.Context(), t.Output(), binary, append(args, contract.Modest()...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return contract.Target{
		URL: server.URL, Project: *project, Another: contract.Another, Token: minted(t, folder),
		Hosting: true, MaxWaiting: contract.FewWaiting, Complete: true,
	}
}

func minted(t *testing.T, folder string) func(contract.Actor) (string, error) {
	t.Helper()
	tokens, err := issuer.Open(folder, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return contract.Minted(tokens, *project)
}
