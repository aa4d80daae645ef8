package embedded

import (
	"crypto/sha1" //nolint:gosec // Redis names scripts so
	"encoding/hex"
	"strings"
	"sync"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// AllowFlags makes a server that has been started run scripts whose first line has flags, as in "#!lua
// flags=allow-oom", which miniredis does not know. It has no limit of memory that this flag could lift.
func AllowFlags(m *miniredis.Miniredis) {
	scripts := &flagged{}
	m.Server().SetPreHook(func(c *server.Peer, command string, args ...string) bool {
		if !scripts.rewrite(command, args) {
			return false
		}
		m.Server().Dispatch(c, append([]string{command}, args...))
		return true
	})
}

// flagged makes a comment of the first line of scripts that has flags.
type flagged struct {
	// names are the hashes of the scripts as miniredis has them, by those that clients know.
	names sync.Map
}

// rewrite changes the arguments of a command that has or names such a script. It reports whether it did.
func (f *flagged) rewrite(command string, args []string) bool {
	switch {
	case command == "EVAL" && len(args) > 0 && strings.HasPrefix(args[0], "#!"):
		plain := "--" + args[0][2:]
		f.names.Store(hashOf(args[0]), hashOf(plain))
		args[0] = plain
		return true
	case command == "EVALSHA" && len(args) > 0:
		// The name that miniredis has is no key of the map, so this ends.
		name, known := f.names.Load(args[0])
		if known {
			args[0] = name.(string) //nolint:forcetypeassert // nothing else is in the map
		}
		return known
	}
	return false
}

func hashOf(script string) string {
	sum := sha1.Sum([]byte(script)) //nolint:gosec // see above
	return hex.EncodeToString(sum[:])
}
