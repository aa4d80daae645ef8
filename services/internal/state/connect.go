package state

import (
	"crypto/tls"
	"strings"

	"github.com/redis/go-redis/v9"

	"matchmaker.dev/services/internal/fault"
)

// errURL says nothing of the URL, which may hold a password.
var errURL = fault.New(fault.Invalid, "redis: the URL must look like redis://[user:password@]host:port[/db] or unix:///path, redis-cluster://[user:password@]host:port[?addr=host:port&…] "+
	"or redis-sentinel://[user:password@]host:port[/db]?master_name=…[&addr=host:port&…]; rediss for redis means TLS")

// How many connections there are at the most: for commands, and for readers of feeds, who block on theirs.
const (
	commandConns = 64
	feedConns    = 4096
)

// connect makes the client that a URL asks for, of one server, of a cluster, or of the primary that Sentinels name.
func connect(url string, secure *tls.Config, conns int, meet func(addr string, options *redis.Options)) (redis.UniversalClient, error) {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return nil, errURL
	}
	base, kind, _ := strings.Cut(scheme, "-")
	if secure != nil && base != "rediss" {
		return nil, fault.New(fault.Invalid, "redis: certificates are given, and the URL does not ask for TLS: it must begin with rediss")
	}
	// The feed reads raw replies, which differ in RESP3. A script whose reply was lost may have run: nobody may run it
	// again unasked, and so a command that a cluster sends elsewhere fails, once, until the client has read where keys are.
	switch kind {
	case "":
		o, err := redis.ParseURL(base + "://" + rest)
		if err != nil {
			return nil, errURL
		}
		o.Protocol, o.DisableIdentity, o.PoolSize, o.MaxRetries = 2, true, conns, -1
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
		o.Protocol, o.DisableIdentity, o.PoolSize, o.MaxRetries, o.MaxRedirects = 2, true, conns, -1, -1
		o.TLSConfig = merged(o.TLSConfig, secure)
		o.NewClient = func(node *redis.Options) *redis.Client {
			if meet != nil {
				meet(node.Addr, node)
			}
			return redis.NewClient(node)
		}
		return redis.NewClusterClient(o), nil
	case "sentinel":
		o, err := redis.ParseFailoverURL(base + "://" + rest)
		if err != nil || o.MasterName == "" {
			return nil, errURL
		}
		o.Protocol, o.DisableIdentity, o.PoolSize, o.MaxRetries = 2, true, conns, -1
		o.TLSConfig = merged(o.TLSConfig, secure)
		if meet != nil {
			// Whoever is the primary, it is met under one name: another one has another history.
			var node redis.Options
			meet(o.MasterName, &node)
			o.OnConnect = node.OnConnect
		}
		return redis.NewFailoverClient(o), nil
	}
	return nil, errURL
}

// merged is what the URL says of TLS, with the certificates that were given.
func merged(fromURL, given *tls.Config) *tls.Config {
	if fromURL == nil || given == nil {
		return fromURL
	}
	merged := fromURL.Clone()
	merged.RootCAs, merged.Certificates = given.RootCAs, given.Certificates
	return merged
}
