package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"go.yaml.in/yaml/v3"

	"matchmaker.dev/services/internal/auth"
)

// readIssuers reads the list of trusted token issuers. Members that nobody knows are refused:
// a mistyped restriction would not restrict.
func readIssuers(path string) ([]auth.Issuer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--issuers: %w", err)
	}
	defer func() { _ = f.Close() }()
	var issuers []auth.Issuer
	decoder := yaml.NewDecoder(f)
	decoder.KnownFields(true)
	if err := decoder.Decode(&issuers); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("--issuers: %s: %w", path, err)
	}
	if len(issuers) == 0 {
		return nil, fmt.Errorf("--issuers: %s: no issuer in it: nobody could call the API", path)
	}
	return issuers, nil
}
