// Package bustest makes settings and credentials of NATS servers and their users, and follows events, for tests.
package bustest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/platform/account"
)

// FollowEvents calls handle with the events of a project, those that are stored first, until ctx ends or handle returns
// an error.
func FollowEvents(ctx context.Context, b *bus.Bus, project string, handle func(*pb.Events) error) error {
	var failed error
	_, err := b.ReadEvents(ctx, project, bus.EventStart{}, true, func(m bus.EventMessage) bool {
		failed = handle(m.Events)
		return failed == nil
	})
	if failed == nil && ctx.Err() == nil {
		failed = err
	}
	return failed
}

// NKey makes a user's key. It returns the settings of a server that knows it, with the rights of an account, and the
// file with the key's seed.
func NKey(t testing.TB, name string) (settings, seed string) {
	t.Helper()
	public, private := pair(t, nkeys.CreateUser)
	file := filepath.Join(t.TempDir(), "user.nk")
	write(t, file, secret(t, private))
	known := bus.Users([]string{name}, func(string) string { return "x" })
	known = strings.Replace(known, fmt.Sprintf("user: %q, password: x", account.User(name)),
		fmt.Sprintf("nkey: %q", public), 1)
	return known, file
}

// Credentials makes an operator, an account and a user of it with the rights of one of ours. It returns the settings of
// a server of this operator, and the credentials file of the user.
func Credentials(t testing.TB, name string) (settings, file string) {
	t.Helper()
	operator, operatorKey := pair(t, nkeys.CreateOperator)
	system, _ := pair(t, nkeys.CreateAccount)
	games, gamesKey := pair(t, nkeys.CreateAccount)
	user, userKey := pair(t, nkeys.CreateUser)

	issuer := jwt.NewOperatorClaims(operator)
	issuer.SystemAccount = system
	owner := jwt.NewAccountClaims(games)
	owner.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit,
		Streams: jwt.NoLimit, Consumer: jwt.NoLimit}
	member := jwt.NewUserClaims(user)
	rights := bus.RightsOf(name)
	member.Pub.Allow.Add(rights.Publish...)
	member.Sub.Allow.Add(rights.Subscribe...)

	token := func(c interface {
		Encode(kp nkeys.KeyPair) (string, error)
	}, by nkeys.KeyPair) string {
		text, err := c.Encode(by)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	text, err := jwt.FormatUserConfig(token(member, gamesKey), secret(t, userKey))
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "user.creds")
	write(t, file, text)
	return fmt.Sprintf("operator: %s\nsystem_account: %s\nresolver: MEMORY\nresolver_preload: {\n  %s: %s\n  %s: %s\n}\n",
		token(issuer, operatorKey), system,
		system, token(jwt.NewAccountClaims(system), operatorKey), games, token(owner, operatorKey)), file
}

func pair(t testing.TB, create func() (nkeys.KeyPair, error)) (public string, private nkeys.KeyPair) {
	t.Helper()
	private, err := create()
	if err != nil {
		t.Fatal(err)
	}
	if public, err = private.PublicKey(); err != nil {
		t.Fatal(err)
	}
	return public, private
}

func secret(t testing.TB, private nkeys.KeyPair) []byte {
	t.Helper()
	seed, err := private.Seed()
	if err != nil {
		t.Fatal(err)
	}
	return seed
}

// write writes a file as editors do that begin texts with a byte order mark.
func write(t testing.TB, file string, text []byte) {
	t.Helper()
	if err := os.WriteFile(file, append([]byte("\ufeff"), text...), 0o600); err != nil {
		t.Fatal(err)
	}
}
