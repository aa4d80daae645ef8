package state

import (
	"context"
	"crypto/tls"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/platform/account"
)

// errURL does not quote the URL, which may have a password.
var errURL = problem.New(problem.Invalid,
	"redis: the URL must look like redis://[user:password@]host:port[/db] or unix:///path, "+
		"redis-cluster://[user:password@]host:port[?addr=host:port&…] "+
		"or redis-sentinel://[user:password@]host:port[/db]?master_name=…[&addr=host:port&…]; rediss for redis means TLS")

// errTwice does not quote the URL either.
var errTwice = problem.New(problem.Invalid,
	"redis: the URL has a user or a password, and --redis-user or --redis-password is set as well: one of the two is "+
		"enough")

// explain says what an operator can do about an error of a connection. bare is true when the connection uses TLS
// without a client certificate.
func explain(err error, bare bool) string {
	causes := []account.Cause{
		{
			Texts: []string{"WRONGPASS", "invalid password", "invalid username-password"},
			Advice: "Redis refuses the user or the password: check --redis-user and --redis-password, or the part of " +
				"--redis before the @",
		},
		{
			Texts:  []string{"NOAUTH", "Authentication required"},
			Advice: "Redis asks for a user and a password: give --redis-user and --redis-password",
		},
		{
			Texts: []string{"NOPERM", "ACL failure", "The user executing the script can't"},
			Advice: "Redis does not permit this user what the service does: 'matchmaker permissions redis' prints what it " +
				"needs",
		},
		{
			Texts:  []string{"first record does not look like a TLS handshake"},
			Advice: "Redis does not speak TLS there: the URL of --redis must begin with redis instead of rediss",
		},
	}
	if bare {
		causes = append(causes, account.Cause{
			Texts: []string{"connection reset", "EOF", "broken pipe"},
			Advice: "Redis ends the connection at once: it may want a certificate of this service, with --redis-cert and " +
				"--redis-key",
		})
	}
	return account.Server{Name: "Redis", Flag: "redis"}.Explain(err, causes, "the state store did not answer, try again")
}

// conns is the limit of connections to a server, and how long a command waits for one; 0 for the client's default.
type conns struct {
	most int
	wait time.Duration
}

// The connections for commands, and those for the readers of all feeds, which wait for each other.
var (
	commandPool = conns{most: 64}
	feedPool    = conns{most: 12, wait: 30 * time.Second}
)

// connect makes the client for a URL: of one server, of a cluster, or of the primary that Sentinels name.
func connect(
	url string, login account.Login, secure *tls.Config,
	dial func(ctx context.Context, network, addr string) (net.Conn, error), pool conns,
	meet func(addr string, options *redis.Options),
) (redis.UniversalClient, error) {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return nil, errURL
	}
	base, kind, _ := strings.Cut(scheme, "-")
	if secure != nil && base != "rediss" {
		return nil, problem.New(problem.Invalid,
			"redis: certificates need TLS: the URL must begin with rediss")
	}
	var credentials func(context.Context) (user, password string, err error)
	if login.Given() {
		credentials = func(context.Context) (string, string, error) {
			password, err := login.Secret()
			return login.User, password, err
		}
	}
	twice := func(user, password string) bool { return credentials != nil && (user != "" || password != "") }
	// The feed reads raw replies, which differ in RESP3. Clients must not retry commands: a script whose reply was lost
	// may have run. See redirect for what a cluster answers while it moves a slot.
	switch kind {
	case "":
		o, err := redis.ParseURL(base + "://" + rest)
		if err != nil {
			return nil, errURL
		}
		if twice(o.Username, o.Password) {
			return nil, errTwice
		}
		o.CredentialsProviderContext, o.Dialer = credentials, dial
		o.Protocol, o.DisableIdentity, o.PoolSize, o.PoolTimeout, o.MaxRetries = 2, true, pool.most, pool.wait, -1
		o.TLSConfig = merged(o.TLSConfig, secure)
		if meet != nil {
			meet(o.Addr, o)
		}
		return redis.NewClient(o), nil
	case "cluster":
		o, err := redis.ParseClusterURL(base + "://" + rest)
		if err != nil {
			return nil, errURL
		}
		if twice(o.Username, o.Password) {
			return nil, errTwice
		}
		o.CredentialsProviderContext, o.Dialer = credentials, dial
		o.Protocol, o.DisableIdentity, o.PoolSize, o.PoolTimeout = 2, true, pool.most, pool.wait
		o.MaxRetries, o.MaxRedirects = -1, -1
		o.TLSConfig = merged(o.TLSConfig, secure)
		moved := new(redirect)
		o.NewClient = func(node *redis.Options) *redis.Client {
			if meet != nil {
				meet(node.Addr, node)
			}
			client := redis.NewClient(node)
			moved.add(node.Addr, client)
			return client
		}
		cluster := redis.NewClusterClient(o)
		moved.reload = cluster.ReloadState
		cluster.AddHook(moved)
		return cluster, nil
	case "sentinel":
		o, err := redis.ParseFailoverURL(base + "://" + rest)
		if err != nil || o.MasterName == "" {
			return nil, errURL
		}
		if twice(o.Username, o.Password) { // the part before the @ is for the Sentinels
			return nil, errTwice
		}
		o.CredentialsProviderContext, o.Dialer = credentials, dial
		o.Protocol, o.DisableIdentity, o.PoolSize, o.PoolTimeout, o.MaxRetries = 2, true, pool.most, pool.wait, -1
		o.TLSConfig = merged(o.TLSConfig, secure)
		if meet != nil {
			// All primaries have one name here. A new primary is recognized by its history.
			var node redis.Options
			meet(o.MasterName, &node)
			o.OnConnect = node.OnConnect
		}
		return redis.NewFailoverClient(o), nil
	}
	return nil, errURL
}

// merged adds the certificates of files to the TLS settings of the URL.
func merged(fromURL, fromFiles *tls.Config) *tls.Config {
	if fromURL == nil || fromFiles == nil {
		return fromURL
	}
	merged := fromURL.Clone()
	merged.RootCAs, merged.Certificates = fromFiles.RootCAs, fromFiles.Certificates
	return merged
}
