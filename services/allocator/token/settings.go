package token

import (
	"fmt"
	"time"

	"matchmaker.dev/services/internal/platform/keyfile"
)

// Settings of the tokens that game servers get with their allocation.
type Settings struct {
	Keys  string        `help:"File with the private keys that sign the tokens of game servers; all allocators share it. 'matchmaker keys server FILE' makes it. Without it servers get no tokens." name:"server-keys" placeholder:"FILE" group:"allocator"`
	Time  time.Duration `help:"How long a token of a game server is good; the server renews it before." name:"server-token-time" default:"30m" bounds:">0" group:"allocator"`
	Limit time.Duration `help:"How long after its allocation a game server may renew its token where its hosting system does not tell whether it lives." name:"server-token-limit" default:"24h" bounds:">0" group:"allocator"`
}

// Validate names the flag that makes no sense.
func (s *Settings) Validate() error {
	if s.Time > keyfile.MostTime {
		return fmt.Errorf("--server-token-time: at most %s: keys are published no longer", keyfile.MostTime)
	}
	return nil
}
