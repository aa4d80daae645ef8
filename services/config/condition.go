package config

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"matchmaker.dev/services/internal/edge/problem"
)

// etag tells one revision of a config from all others. Revisions grow over all configs of a project, so a config that
// was deleted and made again has another.
func etag(revision int64) string { return `"` + strconv.FormatInt(revision, 10) + `"` }

// condition is what If-Match and If-None-Match ask of the config that is there (RFC 9110, section 13), but that the
// contract's status for what is not met is 409. A nil list was not given.
type condition struct{ match, noneMatch []string }

func conditionOf(h http.Header) (c condition, err error) {
	if c.match, err = tagsOf(h, "If-Match"); err != nil {
		return c, err
	}
	if c.noneMatch, err = tagsOf(h, "If-None-Match"); err != nil {
		return c, err
	}
	for i, tag := range c.noneMatch {
		c.noneMatch[i] = strings.TrimPrefix(tag, "W/") // compared weakly, unlike tags of If-Match
	}
	return c, nil
}

// none reports whether nothing is asked.
func (c condition) none() bool { return c.match == nil && c.noneMatch == nil }

// holds reports whether a config with a revision, 0 when there is none, is what is asked for.
func (c condition) holds(revision int64) bool {
	return (c.match == nil || matchesAny(c.match, revision)) && !matchesAny(c.noneMatch, revision)
}

func matchesAny(tags []string, revision int64) bool {
	return revision != 0 && (slices.Contains(tags, "*") || slices.Contains(tags, etag(revision)))
}

const entityTag = `(?:W/)?"[!#-~\x{80}-\x{10FFFF}]*"`

var (
	oneTag  = regexp.MustCompile(entityTag)
	tagList = regexp.MustCompile(`^[ \t,]*` + entityTag + `(?:[ \t]*,[ \t]*(?:` + entityTag + `)?)*[ \t]*$`)
)

// tagsOf is the entity tags of a header: nil when it was not given, and "*" for every tag.
func tagsOf(h http.Header, name string) ([]string, error) {
	lines := h.Values(name)
	if len(lines) == 0 {
		return nil, nil
	}
	text := strings.Join(lines, ",")
	if strings.Trim(text, " \t") == "*" {
		return []string{"*"}, nil
	}
	if !tagList.MatchString(text) {
		return nil, problem.New(problem.Invalid, `header %s: expected are * or ETags with their quotes, such as "5"`,
			problem.Word(name))
	}
	return oneTag.FindAllString(text, -1), nil
}
