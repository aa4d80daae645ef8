package state_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"matchmaker.dev/services/internal/platform/account"
	"matchmaker.dev/services/internal/platform/catalog"
	"matchmaker.dev/services/internal/state"
)

func passwordOf(name string) string { return "the-password-of-" + name }

// login is the login of an account.
func login(name string) account.Login {
	return account.Login{User: account.User(name), Password: func() (string, error) { return passwordOf(name), nil }}
}

// aclFile writes an ACL file with a user for each account. allowDefault enables the default user, which cluster nodes
// and Sentinels use.
func aclFile(t *testing.T, allowDefault bool) string {
	t.Helper()
	text := state.ACLFile(append(account.Names(), account.All), func(name string) string {
		sum := sha256.Sum256([]byte(passwordOf(name)))
		return hex.EncodeToString(sum[:])
	})
	if allowDefault {
		text = strings.Replace(text, "user default reset off", "user default reset on nopass ~* &* +@all", 1)
	}
	file := filepath.Join(t.TempDir(), "users.acl")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// startWithUsers starts a Redis with a user for each account. as connects as one of them.
func startWithUsers(t *testing.T) (as func(name string) *redis.Client) {
	t.Helper()
	dir, err := os.MkdirTemp("", "") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "redis")
	startRedis(t, "--port", "0", "--unixsocket", socket, "--aclfile", aclFile(t, false))
	as = func(name string) *redis.Client {
		c := redis.NewClient(&redis.Options{Network: "unix", Addr: socket, Username: account.User(name),
			Password: passwordOf(name), DisableIdentity: true, Protocol: 2})
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	return as
}

// Redis itself says which user may do what.
func TestAccountsReadAndWriteOnlyTheirKeys(t *testing.T) {
	t.Parallel()
	const (
		nobody = ""
		change = "ticket director allocator backfill party"
		match  = "director allocator"
		answer = "ticket director allocator party"
		fill   = "director allocator backfill"
	)
	operator := startWithUsers(t)(account.Operator)
	may := func(name string, commands []string) bool {
		for _, command := range commands {
			args := []any{"ACL", "DRYRUN", account.User(name)}
			for word := range strings.FieldsSeq(command) {
				args = append(args, word)
			}
			answer, err := operator.Do(t.Context(), args...).Text()
			if err != nil {
				t.Fatalf("%s: %v", command, err)
			}
			if answer == "OK" {
				return true
			}
		}
		return false
	}
	for _, test := range []struct{ key, readers, writers string }{
		{"mm:{p}:t:1", "ticket runner director allocator backfill party", change},
		{"mm:{p}:waiting", "ticket runner director allocator backfill party", change},
		{"mm:{p}:resolved", fill + " ticket party", fill + " ticket party"},
		{"mm:{p}:results", change, change},
		{"mm:{p}:feed", "runner", change},
		{"mm:{p}:feed_name", "ticket runner backfill", nobody},
		{"mm:{p}:feed_seq", "ticket runner director allocator backfill party", change},
		{"mm:{p}:stream_bytes", change + " config registry", change + " config registry"},
		{"mm:{p}:sim:1", "config", "config"},
		{"mm:{p}:history", "director", change + " config registry"},
		{"mm:{p}:history_seq", change + " config registry", change + " config registry"},
		{"mm:{p}:published", "director", "director"},
		{"mm:{p}:o:1", "ticket director allocator backfill party", fill},
		{"mm:{p}:outcomes", fill, fill},
		{"mm:{p}:m:1", change, change},
		{"mm:{p}:claims", change, change},
		{"mm:{p}:outbox", fill, fill},
		{"mm:{p}:ended", "ticket " + fill, fill},
		{"mm:{p}:deallocations", "ticket " + fill, fill},
		{"mm:{p}:lease", "director", "director"},
		{"mm:{p}:rates", "ticket config registry backfill party", "ticket config registry backfill party"},
		{"mm:{p}:players:0", "ticket party", "ticket party"},
		{"mm:{p}:configs", "ticket config registry director", "config"},
		{"mm:{p}:revisions", "ticket config registry director", "config"},
		{"mm:{p}:revision", "config", "config"},
		{"mm:{p}:config_names", "config", "config"},
		{"mm:{p}:config_changes", "config director", "config director"},
		{"mm:{p}:config_history", "config director", "config director"},
		{"mm:{p}:settings", "ticket config director party", "config"},
		{"mm:{p}:pauses:0", "ticket director party", "ticket director party"},
		{"mm:{p}:queues", "ticket config director party", "config"},
		{"mm:{p}:unserved", "config director", "config director"},
		{"mm:{p}:by_player", "ticket director party", "ticket director party"},
		{"mm:{p}:keys:0", "ticket party", "ticket party"},
		{"mm:{p}:functions", "config registry runner director backfill", "registry"},
		{"mm:{p}:unused", "registry director", "registry"},
		{"mm:{p}:bf:1", "runner director allocator backfill party", fill},
		{"mm:{p}:backfill_sizes", "runner director allocator backfill", fill},
		{"mm:{p}:large_sizes", "ticket runner director allocator backfill party", change},
		{"mm:{p}:large_players", change, change},
		{"mm:{p}:hosting_windows", fill, fill},
		{"mm:{p}:served", fill, fill},
		{"mm:{p}:backfills", "runner director allocator backfill", fill},
		{"mm:{p}:bm:1", "director allocator backfill party", fill},
		{"mm:{p}:bj:1", fill, fill},
		{"mm:{p}:joins", "ticket " + fill, fill},
		{"mm:{p}:audit", "config director allocator party",
			"config registry director allocator party"},
		{"mm:{p}:report:1h", "ticket registry director", "director"},
		{"mm:{p}:pa:1", "ticket party", "ticket party"},
		{"mm:{p}:parties", "party", "party"},
		{"mm:{p}:party_players", "party", "party"},
		{"mm:{p}:party_codes", "party", "party"},
		{"mm:{p}:party_sweeps", "party", "party"},
		{"mm:{p}:last_seen", "ticket party", "ticket party"},
		{"mm:{p}:idle_sweeps", "ticket", "ticket"},
		{"mm:projects", "ticket config registry runner director allocator backfill party",
			"ticket config registry director backfill party"},
		{"mm:directors", "director", "director"},
		{"mm:schema", "ticket config registry runner director allocator backfill party", "director"},
		{"mm:{p}:other", nobody, nobody},
		{"mm:other", nobody, nobody},
		{"other", nobody, nobody},
	} {
		of := func(commands string) string {
			var each []string
			for command := range strings.SplitSeq(fmt.Sprintf(commands, test.key), ",") {
				each = append(each, command)
			}
			return strings.Join(slices.DeleteFunc(catalog.Names(), func(name string) bool { return !may(name, each) }), " ")
		}
		sorted := func(names string) string {
			var in []string
			for _, name := range catalog.Names() {
				if slices.Contains(strings.Fields(names), name) {
					in = append(in, name)
				}
			}
			return strings.Join(in, " ")
		}
		if got := of("HGET %[1]s f,HGETALL %[1]s,HMGET %[1]s f,HKEYS %[1]s,GET %[1]s,MGET %[1]s,SMEMBERS %[1]s,ZSCORE " +
			"%[1]s m,ZRANGE %[1]s 0 1,ZSCAN %[1]s 0,XREAD STREAMS %[1]s 0,XRANGE %[1]s - +,GETDEL %[1]s"); got !=
			sorted(test.readers) {
			t.Errorf("%s is read by %q, want %q", test.key, got, test.readers)
		}
		if got := of("HSET %[1]s f v,HDEL %[1]s f,SET %[1]s v,SADD %[1]s m,ZADD %[1]s 1 m,ZREM %[1]s m,XADD %[1]s * f " +
			"v,XTRIM %[1]s MAXLEN 0,DEL %[1]s,UNLINK %[1]s,INCR %[1]s"); got != sorted(test.writers) {
			t.Errorf("%s is written by %q, want %q", test.key, got, test.writers)
		}
	}
}

// noPermission matches the errors with which versions of Redis refuse a command, also one of a script.
var noPermission = regexp.MustCompile(`NOPERM|ACL failure|The user executing the script can't|not allowed from script`)

// Redis refuses other commands and keys, also in scripts.
func TestOtherCommandsAreRefused(t *testing.T) {
	t.Parallel()
	as := startWithUsers(t)
	refuse := func(name string, commands ...[]any) {
		t.Helper()
		c := as(name)
		if err := c.Ping(t.Context()).Err(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, command := range commands {
			if err := c.Do(t.Context(), command...).Err(); err == nil || !noPermission.MatchString(err.Error()) {
				t.Errorf("%s: %v: %v, want no permission", name, command, err)
			}
		}
	}
	for _, name := range append(catalog.Names(), account.All) {
		refuse(name, [][]any{
			{"FLUSHALL"}, {"FLUSHDB"}, {"KEYS", "*"}, {"RANDOMKEY"}, {"DBSIZE"}, {"CONFIG", "GET",
				"*"}, {"CONFIG", "SET", "maxmemory", "1"}, {"SHUTDOWN"}, {"SAVE"},
			{"ACL", "LIST"}, {"ACL", "SETUSER", "x"}, {"ACL", "WHOAMI"}, {"MONITOR"}, {"SCRIPT", "FLUSH"}, {"SCRIPT", "LOAD",
				"return 1"}, {"FUNCTION", "FLUSH"},
			{"REPLICAOF", "NO", "ONE"}, {"CLIENT", "LIST"}, {"CLIENT", "KILL", "TYPE", "normal"}, {"PUBLISH", "x",
				"y"}, {"SUBSCRIBE", "x"}, {"CLUSTER", "RESET"}, {"SWAPDB", "0", "1"},
			{"GET", "other:key"}, {"SET", "other:key", "1"}, {"EXPIRE", "mm:{p}:t:1", "1"}, {"RENAME", "mm:{p}:t:1",
				"mm:{p}:t:2"}, {"DUMP", "mm:{p}:t:1"},
			{"EVAL", "return redis.call('GET', KEYS[1])", "1", "other:key"}, {"EVAL", "return 1", "1", "other:key"},
		}...)
	}
	// Directors look for projects, and the party service for players.
	for _, name := range catalog.Names() {
		if name != catalog.Director && name != catalog.Party {
			refuse(name, []any{"SCAN", "0"})
		}
	}
	// A script has only the rights of its user, on keys that the call names and on others.
	script := func(text string, keys ...any) []any {
		return append([]any{"EVAL", text, len(keys)}, keys...)
	}
	for _, name := range []string{catalog.Ticket, catalog.Config, catalog.Registry, catalog.Director, catalog.Allocator,
		catalog.Backfill, catalog.Party} {
		refuse(name,
			script("return redis.call('FLUSHALL')"), script("return redis.call('KEYS', '*')"), script("return "+
				"redis.call('CONFIG', 'GET', '*')"),
			script("return redis.call('HSET', 'mm:{p}:other', 'f', 'v')"), script("return redis.call('DEL', 'other')"))
		if name != catalog.Registry {
			refuse(name, script("return redis.call('HDEL', 'mm:{p}:functions', 'f')"),
				script("return redis.call('HDEL', KEYS[1], 'f')", "mm:{p}:functions"))
		}
		if name != catalog.Config {
			refuse(name, script("return redis.call('HSET', 'mm:{p}:configs', 'f', 'v')"),
				script("return redis.call('HSET', KEYS[1], 'f', 'v')", "mm:{p}:configs"))
		}
	}
	refuse(catalog.Runner, script("return 1"), []any{"EVALSHA", strings.Repeat("0", 40), 0}, []any{"HSET", "mm:{p}:t:1",
		"s", "r"}, []any{"XADD", "mm:{p}:feed", "*", "f", "v"},
		[]any{"HGETALL", "mm:{p}:configs"}, []any{"HSET", "mm:{p}:functions", "f", "v"}, []any{"DEL", "mm:{p}:feed_name"},
		[]any{"SET", "mm:{p}:feed_name", "v"}, []any{"GETDEL", "mm:{p}:feed_name"}, []any{"SET", "mm:schema", "999"},
		[]any{"SETNX", "mm:schema", "999"}, []any{"SET", "mm:projects", "v"})
	// The director's scripts read a config's revision and do not change it.
	refuse(catalog.Director, script("return redis.call('HSET', KEYS[1], 'f', 'v')", "mm:{p}:revisions"), []any{"HSET",
		"mm:{p}:revisions", "f", "v"})
	refuse(catalog.Ticket, []any{"HGETALL", "mm:{p}:lease"}, []any{"XREAD", "STREAMS", "mm:{p}:feed", "0"},
		script("return redis.call('XRANGE', KEYS[1], '-', '+')", "mm:{p}:feed"))
}

// The account for all services may call every command of every script.
func TestRulesHaveTheCommandsOfAllScripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("script/*.lua")
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	rules := " " + state.ACLRules(account.All) + " "
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(text), "redis.call(")[1:] {
			command, _, _ := strings.Cut(strings.Trim(part, "'\""), "'")
			if !strings.Contains(rules, " +"+strings.ToLower(command)+" ") {
				t.Errorf("%s calls %s, which the rules do not permit", file, command)
			}
		}
		if strings.Contains(string(text), "pcall") || strings.Contains(string(text), "redis[") {
			t.Errorf("%s calls commands in a way that ACLRules does not find", file)
		}
	}
}
