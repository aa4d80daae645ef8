package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/semver"
)

// repository makes a repository with two commits. Its arguments are tags of the second one; those that begin with "^"
// are tags of the first.
func repository(t *testing.T, tags ...string) string {
	t.Helper()
	folder := t.TempDir()
	do := func(arguments ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", arguments...)
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z")
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", arguments, err, said)
		}
	}
	do("init", "--quiet")
	do("commit", "--quiet", "--allow-empty", "--message", "first")
	for _, tag := range tags {
		if before, ok := strings.CutPrefix(tag, "^"); ok {
			do("tag", before)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "CHANGELOG.md"), []byte("# Changelog\n\n## 1.2.3 (2026-01-02)\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	do("add", ".")
	do("commit", "--quiet", "--message", "second")
	for _, tag := range tags {
		if !strings.HasPrefix(tag, "^") {
			do("tag", tag)
		}
	}
	return folder
}

// A version is a tag, or a pre-release before the next one that sorts after all tags before.
func TestVersions(t *testing.T) {
	for name, test := range map[string]struct {
		tags []string
		want string // a version that ends with "…" goes on with the commit
	}{
		"no tag":               {nil, "v0.0.0-20260102030405-…"},
		"after a tag":          {[]string{"^v1.2.3"}, "v1.2.4-0.20260102030405-…"},
		"after several":        {[]string{"^v1.9.0", "^v1.10.0"}, "v1.10.1-0.20260102030405-…"},
		"after a pre-release":  {[]string{"^v1.2.3-rc.1"}, "v1.2.3-rc.1.0.20260102030405-…"},
		"after one that is no": {[]string{"^v1.2.3", "^v2", "^vista"}, "v1.2.4-0.20260102030405-…"},
		"tags of modules only": {[]string{"pkg/client/v1.2.3", "^pkg/matchfn/v1.0.0"}, "v0.0.0-20260102030405-…"},
		"a tag":                {[]string{"v1.2.3", "pkg/client/v1.2.3", "pkg/matchfn/v1.2.3"}, "v1.2.3"},
		"a pre-release": {
			[]string{"v1.3.0-rc.1", "pkg/client/v1.3.0-rc.1", "pkg/matchfn/v1.3.0-rc.1"}, "v1.3.0-rc.1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := repository(t, test.tags...)
			got, err := describe(t.Context(), folder)
			if err != nil {
				t.Fatal(err)
			}
			want, open := strings.CutSuffix(test.want, "…")
			if open {
				want += got.commit[:12]
			}
			if got.version != want || !semver.IsValid(got.version) {
				t.Errorf("%s, want %s", got.version, want)
			}
			for _, tag := range test.tags {
				before, ok := strings.CutPrefix(tag, "^")
				if ok && check(before) == nil && semver.Compare(before, got.version) >= 0 {
					t.Errorf("%s does not come after %s", got.version, tag)
				}
			}
		})
	}
}

// A bad tag is refused in one line that says what to do.
func TestBadTagsAreRefused(t *testing.T) {
	modules := func(version string) []string {
		return []string{version, "pkg/client/" + version, "pkg/matchfn/" + version}
	}
	for name, test := range map[string]struct {
		tags []string
		want string
	}{
		"two numbers":        {[]string{"v1.2"}, `tag "v1.2" is no semantic version`},
		"a leading zero":     {[]string{"v1.02.3"}, `tag "v1.02.3" is no semantic version`},
		"a word":             {[]string{"version-one"}, `tag "version-one" is no semantic version`},
		"build metadata":     {[]string{"v1.2.3+linux"}, `leave out "+linux"`},
		"a pseudo-version":   {[]string{"v0.0.0-20260102030405-0123456789ab"}, "looks like a version that Go makes"},
		"two tags":           {[]string{"v1.2.3", "v1.2.4"}, "several tags: v1.2.3, v1.2.4"},
		"no tag of a module": {[]string{"v1.2.3", "pkg/client/v1.2.3"}, "run 'git tag pkg/matchfn/v1.2.3'"},
		"a module's tag elsewhere": {
			[]string{"v1.2.3", "^pkg/client/v1.2.3", "pkg/matchfn/v1.2.3"}, "run 'git tag pkg/client/v1.2.3'",
		},
		"not in the changelog": {modules("v1.2.4"), `CHANGELOG.md has no heading "## 1.2.4"`},
		"a part of a heading":  {modules("v1.2.0"), `CHANGELOG.md has no heading "## 1.2.0"`},
		"a new major version":  {modules("v2.0.0"), "its path does not name this major version"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := describe(t.Context(), repository(t, test.tags...))
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s, %v; want %s", got.version, err, test.want)
			}
		})
	}
	if _, err := describe(t.Context(), t.TempDir()); err == nil {
		t.Error("a folder without a repository has a version")
	}
}

// A folder that is no release is not replaced.
func TestOnlyReleasesAreReplaced(t *testing.T) {
	folder := t.TempDir()
	if err := replaceable(folder); err != nil {
		t.Errorf("an empty folder: %v", err)
	}
	if err := replaceable(filepath.Join(folder, "new")); err != nil {
		t.Errorf("a new folder: %v", err)
	}
	if err := os.WriteFile(filepath.Join(folder, "thesis.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := replaceable(folder); err == nil {
		t.Error("a folder with other files is replaced")
	}
	if err := os.WriteFile(filepath.Join(folder, sums), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := replaceable(folder); err != nil {
		t.Errorf("a release: %v", err)
	}
}
