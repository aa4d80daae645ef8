package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"matchmaker.dev/services/internal/account"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/state"
)

// fromEnvironment marks a secret that is in an environment variable, and not in a file.
const fromEnvironment = "env:"

// secret reads one. Its errors name where it should be, and never what it is.
func secret(source string) (string, error) {
	var text string
	if name, ok := strings.CutPrefix(source, fromEnvironment); ok {
		value, set := os.LookupEnv(name)
		if !set {
			return "", fmt.Errorf("the environment variable %s is not set", name)
		}
		text = value
	} else {
		data, err := os.ReadFile(source)
		if err != nil {
			return "", err
		}
		text = string(data)
	}
	if text = strings.TrimRight(text, "\r\n"); text == "" {
		return "", fmt.Errorf("%s: there is nothing in it", source)
	}
	return text, nil
}

// login is a user and where its password is, of settings of these names.
func login(server, user, password string) (account.Login, error) {
	l := account.Login{User: user}
	if password != "" {
		if _, err := secret(password); err != nil {
			return l, fmt.Errorf("--%s-password: %w", server, err)
		}
		l.Password = func() (string, error) { return secret(password) }
	}
	if err := l.Check(); err != nil {
		return l, fmt.Errorf("--%s-user: %w: give --%s-password", server, err, server)
	}
	return l, nil
}

// options is how the state store is reached.
func (c *redisServer) options(log *slog.Logger) (state.Options, error) {
	secure, err := c.tls()
	if err != nil {
		return state.Options{}, err
	}
	who, err := login("redis", c.RedisUser, c.RedisPassword)
	return state.Options{URL: c.Redis, Login: who, TLS: secure, Log: log}, err
}

// options is how the message bus is reached.
func (c *natsServer) options(log *slog.Logger) (bus.Options, error) {
	who, err := login("nats", c.NATSUser, c.NATSPassword)
	if err != nil {
		return bus.Options{}, err
	}
	if (c.NATSCert == "") != (c.NATSKey == "") {
		return bus.Options{}, errors.New("--nats-cert, --nats-key: one is of no use without the other")
	}
	ways := 0
	for _, given := range []bool{who.Given(), c.NATSCredentials != "", c.NATSNKey != "", strings.Contains(c.NATS, "@")} {
		if given {
			ways++
		}
	}
	if ways > 1 {
		return bus.Options{}, errors.New("--nats-user and --nats-password, --nats-credentials, --nats-nkey and a user in the URL of --nats: only one of these says who this is")
	}
	return bus.Options{
		URL: c.NATS, Login: who, Credentials: c.NATSCredentials, NKey: c.NATSNKey, CA: c.NATSCA, Cert: c.NATSCert, Key: c.NATSKey,
		Replicas: c.StreamReplicas, Log: log,
	}, nil
}

// redisTLS is what --redis-ca, --redis-cert and --redis-key say; nil when none of them is given.
func (c *redisServer) tls() (*tls.Config, error) {
	if c.RedisCA == "" && c.RedisCert == "" && c.RedisKey == "" {
		return nil, nil
	}
	secure := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.RedisCA != "" {
		text, err := os.ReadFile(c.RedisCA)
		if err != nil {
			return nil, fmt.Errorf("--redis-ca: %w", err)
		}
		secure.RootCAs = x509.NewCertPool()
		if !secure.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("--redis-ca: %s holds no certificate", c.RedisCA)
		}
	}
	if c.RedisCert != "" || c.RedisKey != "" {
		if c.RedisCert == "" || c.RedisKey == "" {
			return nil, errors.New("--redis-cert, --redis-key: one is of no use without the other")
		}
		pair, err := tls.LoadX509KeyPair(c.RedisCert, c.RedisKey)
		if err != nil {
			return nil, fmt.Errorf("--redis-cert, --redis-key: %w", err)
		}
		secure.Certificates = []tls.Certificate{pair}
	}
	return secure, nil
}
