package sandbox

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestProcessLimit(t *testing.T) {
	const two, one = "0::/\n", "12:cpu:/x\n8:pids:/docker/abc\n0::/\n"
	for name, test := range map[string]struct {
		self  string
		files map[string]string
		want  int
	}{
		"not this unit's number": {"0::/a/b\n", map[string]string{"a/b/pids.max": "max\n", "a/b/pids.current": "2\n",
			"a/pids.max": "50\n", "a/pids.current": "7\n"}, 50},
		"a container":                   {two, map[string]string{"pids.max": "4096\n"}, 4096},
		"a container without a limit":   {two, map[string]string{"pids.max": "max\n"}, 0},
		"no control groups":             {"", nil, 0},
		"a unit":                        {"0::/slice/unit\n", map[string]string{"slice/unit/pids.max": "100\n"}, 100},
		"a slice has less":              {"0::/a/b\n", map[string]string{"a/b/pids.max": "100\n", "a/pids.max": "50\n"}, 50},
		"a unit without, in a slice":    {"0::/a/b\n", map[string]string{"a/b/pids.max": "max\n", "a/pids.max": "50\n"}, 50},
		"version 1":                     {one, map[string]string{"pids/docker/abc/pids.max": "77\n"}, 77},
		"version 1, in its namespace":   {one, map[string]string{"pids/pids.max": "77\n"}, 77},
		"version 2 beside 1":            {two, map[string]string{"unified/pids.max": "5\n"}, 5},
		"another group's limit":         {"0::/a\n", map[string]string{"b/pids.max": "5\n"}, 0},
		"a path that leads out of here": {"0::/../../a\n", map[string]string{"a/pids.max": "5\n"}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for file, text := range test.files {
				path := filepath.Join(root, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			self := filepath.Join(root, "self")
			if err := os.WriteFile(self, []byte(test.self), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := processLimit(self, root); got != test.want {
				t.Errorf("the limit is %d, want %d", got, test.want)
			}
		})
	}
}

// TestProcessCount: the count is of the group with the limit, and without a limit of this process's own group.
func TestProcessCount(t *testing.T) {
	for name, test := range map[string]struct {
		files       map[string]string
		used, limit int
	}{
		"a limit":       {map[string]string{"a/b/pids.max": "9", "a/b/pids.current": "2", "a/pids.current": "7"}, 2, 9},
		"a limit above": {map[string]string{"a/pids.max": "9", "a/b/pids.current": "2", "a/pids.current": "7"}, 7, 9},
		"no limit": {map[string]string{"a/b/pids.max": "max", "a/b/pids.current": "2", "a/pids.current": "7"},
			2, 0},
		"no control groups":  {nil, 0, 0},
		"a limit, no number": {map[string]string{"a/b/pids.max": "9"}, 0, 9},
	} {
		root := t.TempDir()
		for file, text := range test.files {
			path := filepath.Join(root, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		self := filepath.Join(root, "self")
		if err := os.WriteFile(self, []byte("0::/a/b\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if used, limit := processCount(self, root); used != test.used || limit != test.limit {
			t.Errorf("%s: %d of %d, want %d of %d", name, used, limit, test.used, test.limit)
		}
	}
}

func TestALimitOfProcessesThatIsNotSeen(t *testing.T) {
	for _, test := range []struct {
		limit int
		inPod bool
		want  string // the level, and a word
	}{
		{limit: 100}, {limit: 100, inPod: true},
		{want: "level=WARN TasksMax"}, {inPod: true, want: "level=INFO podPidsLimit"},
	} {
		var said strings.Builder
		b := &Supervisor{log: slog.New(slog.NewTextHandler(&said, nil))}
		b.checkProcessLimit(test.limit, test.inPod)
		level, word, some := strings.Cut(test.want, " ")
		got := said.String()
		if some != (got != "") || !strings.Contains(got, level) || !strings.Contains(got, word) {
			t.Errorf("limit %d, in a pod %v: %q, want %q", test.limit, test.inPod, got, test.want)
		}
	}
}
