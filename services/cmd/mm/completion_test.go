package main

import (
	"context"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
)

// complete asks mm as a shell does.
func (s *shell) complete(line string) []string {
	s.t.Helper()
	s.now = time.Now() // its tokens are good for little longer than it takes
	s.t.Setenv("COMP_LINE", line)
	s.t.Setenv("COMP_POINT", strconv.Itoa(len(line)))
	got := s.run()
	unset(s.t, "COMP_LINE")
	if got.code != 0 || got.err != "" {
		s.t.Errorf("%q: %d, %s", line, got.code, got.err)
	}
	words := strings.Fields(got.out)
	slices.Sort(words)
	return words
}

func TestCommandsFlagsAndNamesAreCompleted(t *testing.T) {
	shell := newShell(t)
	shell.run("context", "set", "staging", "--url", "https://matchmaker.example.com").expect(0, "staging", "")
	for line, want := range map[string][]string{
		"mm conf":              {"config"},
		"mm config ro":         {"rollback"},
		"mm config list --wat": {"--watch"},
		"mm config list -o ":   {"json", "table", "wide", "yaml"},
		"mm context use ":      {"staging"},
	} {
		if got := shell.complete(line); !slices.Equal(got, want) {
			t.Errorf("%q is completed by %q, want %q", line, got, want)
		}
	}
	service := newService(t)
	service.configs["ranked"], service.functions["duel"] = duelConfig, someHash
	at := " --url " + service.url + " --data " + shell.data + " "
	for line, want := range map[string][]string{
		"mm config get" + at + "r":                     {"ranked"},
		"mm function log" + at:                         {"duel"},
		"mm ticket why" + at:                           {"t-1"},
		"mm function delete" + at + "x":                {},
		"mm function rollback" + at + "duel ":          {"1", "2", "3"},
		"mm ticket list" + at + "--queue ":             {"quick"},
		"mm ticket why" + at + "--player ":             {"ada", "ada", "bob"},
		"mm report" + at + "--since-change ":           {"ranked"},
		"mm function canary duel" + at + "--config ra": {"ranked"},
		"mm match get" + at:                            {"m"},
	} {
		if got := shell.complete(line); !slices.Equal(got, want) && len(got)+len(want) > 0 {
			t.Errorf("%q is completed by %q, want %q", line, got, want)
		}
	}
	if got := shell.complete("mm config get --url http://127.0.0.1:1 "); len(got) > 0 {
		t.Errorf("without a service it completes %q", got)
	}
	for _, of := range []string{"bash", "zsh", "fish"} {
		shell.run("completion", of).expect(0, "complete", "")
		shell.run("completion", of, "-c").expect(0, "complete", "")
	}
	shell.run("completion", "cmd").expect(2, "", "must be one of")
}

// The line for bash makes a real bash complete.
func TestBashCompletes(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	mm := builtPrograms(t).mm
	const script = `PATH="$1:$PATH"; source <(mm completion bash)
tool=$(complete -p mm | grep -o '\-C [^ ]*' | cut -c4- | tr -d "'")
COMP_LINE="mm function ver" COMP_POINT=15 "$tool" mm ver function`
	out, err := exec.CommandContext(t.Context(), bash, "-c", script, "bash", filepath.Dir(mm)).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "versions" {
		t.Errorf("%v: %s", err, out)
	}
}

// newTexts are arguments and flags of which nothing exists that could be completed, or that only people know.
var newTexts = strings.Fields(`code token-command issuer client-id scope audience name role note implementation url
	more less explain project token connection if-match from to pool timeout output team region fleet by number rating season`)

// TestWhateverNamesWhatExistsIsCompleted: a new argument or flag with a text must say what completes it.
func TestWhateverNamesWhatExistsIsCompleted(t *testing.T) {
	parser, err := newParser(new(commandLine), console{out: io.Discard, err: io.Discard}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	completed := 0
	for _, command := range parser.Model.Leaves(true) {
		values := slices.Clone(command.Positional)
		for _, group := range command.AllFlags(true) {
			for _, flag := range group {
				values = append(values, flag.Value)
			}
		}
		for _, value := range values {
			kind := value.Target.Type().String()
			if completes := value.Tag.Has("completion-predictor") || value.Enum != ""; completes {
				completed++
			} else if command.Path() == "record erase" && value.Name == "id" { // of a player that has gone
				continue
			} else if (strings.HasSuffix(kind, "string") || value.Name == "version" && kind == "int64") &&
				!slices.Contains(newTexts, value.Name) {
				t.Errorf("%s: nothing completes %s", command.Path(), value.Name)
			}
		}
	}
	if completed < 100 {
		t.Errorf("only %d are completed", completed)
	}
}

// Another owner's name may be what an option before it has.
func TestPartsAreOfTheLastOwnerThatIsNamed(t *testing.T) {
	owners := func(context.Context, *client.Client, []string) ([]string, error) {
		return []string{"arena", "duel"}, nil
	}
	parts := partsOf(owners, func(_ *client.Client, _ context.Context, owner string) ([]string, error) {
		return []string{owner + " 1"}, nil
	}, func(part string) string { return part })
	for want, line := range map[string]string{
		"duel 1": "--project arena duel", "arena 1": "--project duel arena --upload x",
	} {
		if got, err := parts(t.Context(), nil, strings.Fields(line)); err != nil || !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q, %v", line, got, err)
		}
	}
}
