//go:build !linux

package sandbox

// ruleset is what a child can reach of the file system: here, everything.
type ruleset struct{}

// rule is what is allowed below a path.
type rule struct {
	path   string
	access uint64
	maybe  bool
}

const (
	readable = 0
	writable = 0
)

func newRuleset(string) (*ruleset, error) { return nil, nil } //nolint:nilnil // see ruleset

func (s *ruleset) with(...rule) *ruleset { return s }
