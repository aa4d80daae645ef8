package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// redisTLS is what --redis-ca, --redis-cert and --redis-key say; nil when none of them is given.
func (c *connections) redisTLS() (*tls.Config, error) {
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
