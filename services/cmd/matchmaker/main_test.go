package main

import (
	"encoding/binary"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"matchmaker.dev/services/allocator"
	"matchmaker.dev/services/backfill"
	"matchmaker.dev/services/director"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/platform/process/processtest"
	defaults "matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/registry"
	"matchmaker.dev/services/runner"
	"matchmaker.dev/services/ticket"
)

// asProcess is the first argument of a test binary that is to be the program itself.
const asProcess = "matchmaker"

// TestMain lets the test binary play the processes of a sandbox, as the server's own does, and the program itself.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 2 && os.Args[1] == sandbox.Command:
		os.Exit(sandbox.Main())
	case len(os.Args) > 1 && os.Args[1] == asProcess:
		os.Args = slices.Delete(os.Args, 1, 2)
		main()
	}
	m.Run()
}

// matchmaker runs a command line that ends by itself.
func matchmaker(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs processtest.Buffer // services that did start may still log
	code = run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMistakesAreOneLineEach(t *testing.T) {
	issuers := write(t, "- {issuer: me, jwks: nowhere.json, audiences: [m], kinds: [player]}\n")
	for name, test := range map[string]struct {
		args []string
		code int
		want []string
	}{
		"an unknown command": {[]string{"frobnicate"}, exitUsage, []string{"unexpected argument frobnicate"}},
		"an unknown flag":    {[]string{"dev", "--frobnicate"}, exitUsage, []string{"--frobnicate"}},
		"a missing flag":     {[]string{"ticket"}, exitUsage, []string{"--issuers"}},
		"a missing file": {[]string{"ticket", "--issuers", "/none.yaml"}, exitUsage,
			[]string{"--issuers", "/none.yaml"}},
		"an unknown log level": {[]string{"all", "--issuers", issuers, "--log-level", "loud"}, exitUsage,
			[]string{"--log-level", `"loud"`}},
		"a duration of 0": {[]string{"director", "--min-interval", "0s"}, exitUsage,
			[]string{"--min-interval", "more than 0"}},
		"an invalid duration": {[]string{"director", "--config", write(t, "min-interval: soon")}, exitUsage,
			[]string{"--min-interval", "soon"}},
		"an unknown setting in the file": {[]string{"director", "--config", write(t, "min-intervall: 1s")}, exitUsage,
			[]string{"--config", "min-intervall"}},
		"a list for a setting": {[]string{"director", "--config", write(t, "min-interval: [1s]")}, exitUsage,
			[]string{"min-interval"}},
		"an invalid YAML file": {[]string{"director", "--config", write(t, "a: b: c")}, exitUsage, []string{"--config"}},
		"an invalid Redis URL": {[]string{"director", "--redis", "http://x"}, exitFailure, []string{"redis"}},
		"an invalid NATS URL":  {[]string{"director", "--nats", "://x"}, exitFailure, []string{"nats"}},
		"two mistakes of different kinds": {[]string{"director", "--redis-reserve", "ten", "--lease", "0s"}, exitUsage,
			[]string{"--redis-reserve", "--lease: must be more than 0"}},
		"a missing flag, and another mistake": {[]string{"ticket", "--max-wait", "55s"}, exitUsage,
			[]string{"--issuers", "--max-wait: must be 0 to 50s"}},
		"endless cores": {[]string{"director", "--project-cores", "inf"}, exitUsage,
			[]string{"--project-cores: must be finite"}},
		"a rate without a burst": {[]string{"director", "--player-burst", "0"}, exitUsage, []string{"--player-burst"}},
		"a rate of NaN":          {[]string{"director", "--player-rate", "NaN"}, exitUsage, []string{"--player-rate"}},
		"a read rate without a burst": {[]string{"ticket", "--issuers", issuers, "--read-burst", "0"}, exitUsage,
			[]string{"--read-burst"}},
		"a share of bodies that is none": {[]string{"ticket", "--issuers", issuers, "--body-burst", "Inf"}, exitUsage,
			[]string{"--body-burst"}},
		"no time to stop": {[]string{"dev", "--drain", "0s", "--grace=-1s"}, exitUsage,
			[]string{"--drain", "--grace"}},
		"an address of nothing": {[]string{"all", "--issuers", issuers, "--listen", "here"}, exitUsage,
			[]string{"--listen"}},
		"a port that there is not": {[]string{"all", "--issuers", issuers, "--listen", ":99999"}, exitUsage,
			[]string{"--listen", "99999"}},
		"health of no URL":           {[]string{"health", "here"}, exitUsage, []string{"<url>", `"here"`}},
		"health of another protocol": {[]string{"health", "ftp://here"}, exitUsage, []string{"<url>"}},
		"health at once":             {[]string{"health", "--wait", "0s"}, exitUsage, []string{"--wait"}},
		"a negative maximum": {[]string{"backfill", "--issuers", issuers, "--max-attributes", "-1"}, exitUsage,
			[]string{"--max-attributes"}},
		"a ticket without players": {[]string{"ticket", "--issuers", issuers, "--ticket-players", "0"}, exitUsage,
			[]string{"--ticket-players"}},
		"a ticket that no match can have": {[]string{"ticket", "--issuers", issuers, "--ticket-players", "1001"}, exitUsage,
			[]string{"--ticket-players"}},
		"an empty list of issuers": {[]string{"ticket", "--issuers", write(t, "[]")}, exitFailure,
			[]string{"--issuers", "no issuer"}},
		"an unknown member of an issuer": {[]string{"ticket", "--issuers", write(t, "- {issuers: me}")}, exitFailure,
			[]string{"--issuers", "issuers"}},
		"an address of another machine": {
			[]string{"dev", "--listen", "192.0.2.1:1", "--memory", "--log-level", "error", "--data", t.TempDir()},
			exitFailure, []string{"192.0.2.1:1"}},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := matchmaker(t, test.args...)
			if code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			for _, word := range test.want {
				if !strings.Contains(stderr, word) {
					t.Errorf("%q is not in %q", word, stderr)
				}
			}
			for line := range strings.Lines(stderr) {
				if !strings.HasPrefix(line, "matchmaker: ") {
					t.Errorf("a line that is no error: %q", line)
				}
			}
			if strings.Contains(stdout, "Usage") {
				t.Error("a mistake was answered with the whole help")
			}
		})
	}
}

// An address that is none is a wrong command line. One that is taken is a failure, which names the flag, too.
func TestListeners(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	keys := filepath.Join(t.TempDir(), "keys")
	if code, _, stderr := matchmaker(t, "keys", "beacon", keys); code != exitOK {
		t.Fatal(stderr)
	}
	dev := []string{"dev", "--memory", "--listen", "127.0.0.1:0", "--log-level", "error"}
	beacon := []string{"beacon", "--region", "eu", "--beacon-keys", keys, "--listen", "127.0.0.1:0", "--udp-listen",
		"127.0.0.1:0", "--log-level", "error"}
	console := []string{"console", "--api-url", "http://127.0.0.1:1", "--log-level", "error"}
	for _, c := range []struct {
		command []string
		flag    string
		taken   net.Addr
	}{
		{dev, "--listen", taken.Addr()}, {dev, "--metrics-listen", taken.Addr()},
		{beacon, "--listen", taken.Addr()}, {beacon, "--metrics-listen", taken.Addr()},
		{beacon, "--udp-listen", udp.LocalAddr()},
		{console, "--listen", taken.Addr()}, {console, "--metrics-listen", taken.Addr()},
	} {
		for address, want := range map[string]int{
			"here": exitUsage, "127.0.0.1:99999": exitUsage, c.taken.String(): exitFailure,
		} {
			args := append(slices.Clone(c.command), c.flag, address)
			if c.command[0] == "dev" {
				args = append(args, "--data", t.TempDir())
			}
			code, _, stderr := matchmaker(t, args...)
			if code != want || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, " "+c.flag+": ") {
				t.Errorf("%s %s %s: exit code %d, want %d: %s", c.command[0], c.flag, address, code, want, stderr)
			}
		}
	}
	code, _, stderr := matchmaker(t, "director", "--metrics-values", "-1")
	if code != exitUsage || !strings.Contains(stderr, "--metrics-values") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}

func TestPasswordsOfURLsAreNotRepeated(t *testing.T) {
	for _, args := range [][]string{
		{"director", "--redis", "redis://user:hunter2@host:port:9/x"},
		{"director", "--nats", "nats://user:hunter2@[::1"},
	} {
		if _, stdout, stderr := matchmaker(t, args...); strings.Contains(stdout+stderr, "hunter2") {
			t.Errorf("%v: %s", args[1], stderr)
		}
	}
}

func TestHelpNamesEverySetting(t *testing.T) {
	for _, command := range []string{"dev", "all", "ticket", "config", "registry", "runner", "director", "allocator",
		"backfill"} {
		code, stdout, _ := matchmaker(t, command, "--help")
		if code != exitOK {
			t.Errorf("%s --help: exit code %d", command, code)
		}
		for _, word := range []string{"--listen", "$MATCHMAKER_LISTEN", "--log-level", "--config"} {
			if !strings.Contains(stdout, word) {
				t.Errorf("%s --help does not say %s", command, word)
			}
		}
	}
}

// The runner executes modules of strangers, so it gets no secret that it does not need: no issuers, no hosting keys.
func TestRunnerIsToldNoSecrets(t *testing.T) {
	_, stdout, _ := matchmaker(t, "runner", "--help")
	for _, flag := range []string{"--issuers", "--hosting-keys", "--server-keys", "--hosting-file"} {
		if strings.Contains(stdout, flag) {
			t.Errorf("runner takes %s", flag)
		}
	}
	if !strings.Contains(stdout, `--sandbox="require"`) {
		t.Errorf("by default the runner does not require walls:\n%s", stdout)
	}
}

func TestFlagsGoBeforeTheEnvironmentAndThatBeforeTheFile(t *testing.T) {
	file := write(t, "min-interval: 1s\nmax-interval: 2s\nlease: 3s\nmax-waiting: 7\n")
	t.Setenv("MATCHMAKER_MAX_INTERVAL", "20s")
	t.Setenv("MATCHMAKER_LEASE", "30s")
	c := parse(t, "director", "--config", file, "--lease", "40s")
	if s := c.services["director"].settings; s.Director.MinInterval.Seconds() != 1 ||
		s.Director.MaxInterval.Seconds() != 20 || s.Director.Lease.Seconds() != 40 || s.State.Limits.Waiting != 7 {
		t.Errorf("read %+v", s)
	}
}

// A settings file is what editors and shells make of it.
func TestSettingsInUTF16(t *testing.T) {
	var text []byte
	for _, unit := range utf16.Encode([]rune("lease: 3s # ä\n")) {
		text = binary.LittleEndian.AppendUint16(text, unit)
	}
	for _, mark := range []string{"", "\xff\xfe"} {
		c := parse(t, "director", "--config", write(t, mark+string(text)))
		if got := c.services["director"].settings.Director.Lease.Seconds(); got != 3 {
			t.Errorf("the lease is %v s, want 3", got)
		}
	}
}

func parse(t *testing.T, args ...string) *cli {
	t.Helper()
	c := newCLI()
	parser, err := kong.New(c, c.options(t.Context(), streams{}, func(int) {})...)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := parser.Parse(args)
	if err == nil {
		err = defaults.Bounds(parsed.Flags())
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestDefaultsAreThoseOfTheTags: dev, which has all settings, reads the defaults that settings.Default gives tests.
func TestDefaultsAreThoseOfTheTags(t *testing.T) {
	got := parse(t, "dev").Dev.settings
	for _, pair := range [][2]any{
		{defaults.Default[ticket.Settings](), got.Ticket},
		{defaults.Default[director.Settings](), got.Director},
		{defaults.Default[runner.Settings](), got.Runner},
		{defaults.Default[allocator.Settings](), got.Allocator},
		{defaults.Default[backfill.Settings](), got.Backfill},
		{defaults.Default[registry.Settings](), got.Registry},
		{defaults.Default[state.Limits](), got.State.Limits},
		{defaults.Default[bus.Events](), got.Bus.Events},
		{defaults.Default[bus.Logs](), got.Logs},
	} {
		if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
			t.Errorf("%T: %s", pair[0], diff)
		}
	}
}
