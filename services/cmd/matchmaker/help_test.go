package main

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"matchmaker.dev/services/internal/platform/catalog"
	flags "matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/platform/settings/settingstest"
)

// nodes are all commands that the help lists, the program itself first, by their command lines.
func nodes(t *testing.T) (lines []string, all map[string]*kong.Node) {
	t.Helper()
	c := newCLI()
	app, err := kong.New(c, c.options(t.Context(), streams{io.Discard, io.Discard}, func(int) {})...)
	if err != nil {
		t.Fatal(err)
	}
	all = map[string]*kong.Node{}
	var visit func(n *kong.Node, line string)
	visit = func(n *kong.Node, line string) {
		lines = append(lines, line)
		all[line] = n
		for _, child := range n.Children {
			if child.Type == kong.CommandNode && !child.Hidden {
				visit(child, strings.TrimSpace(line+" "+child.Name))
			}
		}
	}
	visit(app.Model.Node, "")
	if len(lines) < 20 {
		t.Fatalf("only %d commands: %q", len(lines), lines)
	}
	return lines, all
}

// isSentence reports whether a help begins with an upper-case letter or a name, and ends.
func isSentence(help string) bool {
	return regexp.MustCompile(`^([A-Z]|[a-z]+[:,( ]).*[.)]$`).MatchString(help)
}

// The help of each command says how it is used, what it does, and which flags and commands it has, in lines that fit.
func TestEveryCommandHasHelp(t *testing.T) {
	const width = 100
	t.Setenv("COLUMNS", "100")
	lines, all := nodes(t)
	for _, line := range lines {
		n := all[line]
		code, help, errs := matchmaker(t, append(strings.Fields(line), "--help")...)
		if code != exitOK || errs != "" {
			t.Errorf("%s --help: exit code %d, %s", line, code, errs)
		}
		if !strings.HasPrefix(help, "Usage: "+strings.TrimSpace("matchmaker "+line)) {
			t.Errorf("the help of %q begins with %.60q", line, help)
		}
		summary, _, _ := strings.Cut(n.Help, "\n")
		if !isSentence(summary) || !strings.Contains(strings.Join(strings.Fields(help), " "), summary) {
			t.Errorf("the help of %q has no summary: %q", line, summary)
		}
		for _, child := range n.Children {
			if got := strings.Contains(help, "\n  "+strings.TrimSpace(line+" "+child.Name)+" "); got == child.Hidden {
				t.Errorf("the help of %q lists %s: %t", line, child.Name, got)
			}
		}
		for _, f := range n.Flags {
			if got := regexp.MustCompile(`--(\[no-\])?` + f.Name + `[\s=,]`).MatchString(help); got == f.Hidden {
				t.Errorf("the help of %q has --%s: %t", line, f.Name, got)
			}
		}
		for text := range strings.Lines(help) {
			if text = strings.TrimSpace(text); utf8.RuneCountInString(text) > width && strings.Contains(text, "  ") {
				t.Errorf("the help of %q has a line of %d letters: %s", line, utf8.RuneCountInString(text), text)
			}
		}
	}
}

// Each flag says what it is for and has a place in the help. Flags of services can be set in the environment.
func TestEveryFlagIsDocumented(t *testing.T) {
	lines, all := nodes(t)
	serves := append(catalog.Names(), "all", "dev")
	groupsOf := map[string]bool{}
	for _, g := range groups {
		groupsOf[g.Key] = true
	}
	for _, line := range lines {
		for _, f := range all[line].Flags {
			if f.Name == "help" || f.Name == "version" || f.Hidden {
				continue
			}
			if !isSentence(f.Help) {
				t.Errorf("%s --%s: its help is no sentence: %q", line, f.Name, f.Help)
			}
			if !regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`).MatchString(f.Name) {
				t.Errorf("%s: the name --%s", line, f.Name)
			}
			want := "MATCHMAKER_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
			if slices.Contains(serves, line) && !slices.Equal(f.Envs, []string{want}) {
				t.Errorf("%s --%s is set by %q, not by %s", line, f.Name, f.Envs, want)
			}
			if f.Group == nil || !groupsOf[f.Group.Key] {
				t.Errorf("%s --%s is in no group of the help", line, f.Name)
			}
		}
	}
}

// All has the flags of every service, and dev all but the flags of what it brings itself. So one settings file is for
// all.
func TestAllHasTheFlagsOfEveryService(t *testing.T) {
	_, all := nodes(t)
	names := func(command string) map[string]string {
		flags := map[string]string{}
		for _, f := range all[command].Flags {
			flags[f.Name] = f.Default
		}
		return flags
	}
	inAll, inDev, union := names("all"), names("dev"), map[string]bool{}
	for _, s := range services() {
		for name, value := range names(s.name) {
			union[name] = true
			if got, ok := inAll[name]; !ok || got != value {
				t.Errorf("--%s of %s is %q, in all it is %q", name, s.name, value, got)
			}
			brings := regexp.MustCompile(`^(issuers|nats|redis|(nats|redis)-(user|password|credentials|nkey|ca|cert|key)|` +
				`stream-replicas)$`).MatchString(name)
			if _, ok := inDev[name]; ok == brings {
				t.Errorf("dev has --%s: %t", name, ok)
			}
		}
	}
	for name := range inAll {
		if !union[name] {
			t.Errorf("all has --%s, which no service has", name)
		}
	}
}

// Each service takes the settings of what it has, and no others: a flag of each kind.
func TestServicesTakeTheirOwnFlags(t *testing.T) {
	_, all := nodes(t)
	for flag, want := range map[string]string{
		"issuers": "backfill config party registry ticket", "hosting-keys": "allocator config",
		"hosting": "allocator config", "server-keys": "allocator", "seat-keys": "ticket", "max-event-streams": "ticket",
		"modules": "registry runner", "function-memory": "registry runner", "hosts": "registry runner",
		"readable": "allocator backfill director party ticket", "max-wait": "backfill party ticket",
		"max-attributes": "backfill party ticket", "lease": "director", "provider": "allocator",
		"allocation-time": "allocator", "backfill-time": "backfill", "party-silence": "party",
		"redis": strings.Join(slices.Sorted(slices.Values(catalog.Names())), " "),
	} {
		var got []string
		for _, name := range slices.Sorted(slices.Values(catalog.Names())) {
			if slices.ContainsFunc(all[name].Flags, func(f *kong.Flag) bool { return f.Name == flag }) {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("--%s is a flag of %q, want %s", flag, got, want)
		}
	}
}

func TestBoundsAreLookedAt(t *testing.T) {
	c := newCLI()
	parser, err := kong.New(c, c.options(t.Context(), streams{io.Discard, io.Discard}, func(int) {})...)
	if err != nil {
		t.Fatal(err)
	}
	settingstest.Bounds(t, parser.Model)
}

// A rate of 0 means no limit, whatever the burst.
func TestRatesMayBeUnlimited(t *testing.T) {
	args := []string{"all", "--issuers", write(t, "[]")}
	for _, name := range []string{
		"player", "project", "read", "api", "body", "approval", "backfill", "party", "party-join",
	} {
		args = append(args, "--"+name+"-rate", "0", "--"+name+"-burst", "0")
	}
	c := newCLI()
	parser, err := kong.New(c, c.options(t.Context(), streams{io.Discard, io.Discard}, func(int) {})...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := flags.Parse(parser, args); err != nil {
		t.Error(err)
	}
	_, err = flags.Parse(parser, append(args, "--party-rate", "1", "--body-rate", "1"))
	const want = "--body-burst: must be 0.0625 to 1024 unless --body-rate is 0\n" +
		"--party-burst: must be 1 or more unless --party-rate is 0"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
