package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// published are the modules that others import. Go finds their versions by tags of their own.
var published = []string{"pkg/client", "pkg/matchfn"}

// revision is what is released.
type revision struct {
	// vMAJOR.MINOR.PATCH, perhaps with a pre-release; without a tag the pseudo-version that Go gives the commit.
	version string
	commit  string
	time    time.Time // of the commit
}

// number is the version as charts, images and file names have it.
func (r revision) number() string { return strings.TrimPrefix(r.version, "v") }

// describe returns what the commit HEAD is released as.
func describe(ctx context.Context, repository string) (revision, error) {
	said, err := git(ctx, repository, "show", "--no-patch", "--format=%H %cI", "HEAD")
	if err != nil {
		return revision{}, err
	}
	commit, when, _ := strings.Cut(said, " ")
	at, err := time.Parse(time.RFC3339, when)
	if err != nil {
		return revision{}, fmt.Errorf("the time of commit %s: %w", commit, err)
	}
	r := revision{commit: commit, time: at.UTC()}
	tags, err := git(ctx, repository, "tag", "--points-at", "HEAD", "--list", "v*")
	if err != nil {
		return revision{}, err
	}
	switch here := strings.Fields(tags); len(here) {
	case 0:
		before, err := git(ctx, repository, "tag", "--merged", "HEAD", "--list", "v*")
		if err != nil {
			return revision{}, err
		}
		earlier := slices.DeleteFunc(strings.Fields(before), func(tag string) bool { return check(tag) != nil })
		last := ""
		if len(earlier) > 0 {
			last = slices.MaxFunc(earlier, semver.Compare)
		}
		r.version = module.PseudoVersion(semver.Major(last), last, r.time, commit[:12])
		return r, nil
	case 1:
		r.version = here[0]
	default:
		return revision{}, fmt.Errorf("commit %s has several tags: %s: delete all but one", commit[:12],
			strings.Join(here, ", "))
	}
	if err := check(r.version); err != nil {
		return revision{}, err
	}
	if err := complete(ctx, repository, r); err != nil {
		return revision{}, err
	}
	return r, nil
}

// check refuses a tag that is no version.
func check(tag string) error {
	switch {
	case !semver.IsValid(tag) || semver.Canonical(tag) != strings.TrimSuffix(tag, semver.Build(tag)):
		return fmt.Errorf("tag %q is no semantic version: name it vMAJOR.MINOR.PATCH[-PRERELEASE]", tag)
	case semver.Build(tag) != "":
		return fmt.Errorf("tag %q has build metadata, which names of images cannot have: leave out %q", tag,
			semver.Build(tag))
	case module.IsPseudoVersion(tag):
		return fmt.Errorf("tag %q looks like a version that Go makes of a commit: name it otherwise", tag)
	}
	return nil
}

// complete refuses a tag without what belongs to a release: the tags of the modules, and the version in the changelog.
func complete(ctx context.Context, repository string, r revision) error {
	for _, folder := range published {
		if err := module.Check("matchmaker.dev/"+folder, r.version); err != nil {
			return fmt.Errorf("%s cannot be released as %s: its path does not name this major version", folder, r.version)
		}
		tag := folder + "/" + r.version
		said, err := git(ctx, repository, "tag", "--points-at", "HEAD", "--list", tag)
		if err != nil {
			return err
		}
		if said != tag {
			return fmt.Errorf("go get would not find %s: run 'git tag %s' on this commit", folder, tag)
		}
	}
	if semver.Prerelease(r.version) != "" {
		return nil
	}
	changes, err := git(ctx, repository, "show", "HEAD:CHANGELOG.md")
	if err != nil {
		return err
	}
	for line := range strings.Lines(changes) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "## "+r.number()); ok && (rest == "" || rest[0] == ' ') {
			return nil
		}
	}
	return fmt.Errorf("CHANGELOG.md has no heading %q", "## "+r.number())
}

// git runs git in the repository and returns what it prints.
func git(ctx context.Context, repository string, arguments ...string) (string, error) {
	text, err := exec.CommandContext(ctx, "git", append([]string{"-C", repository}, arguments...)...).Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("git %s: %s", arguments[0], strings.TrimSpace(string(failed.Stderr)))
	}
	return strings.TrimSpace(string(text)), err
}
