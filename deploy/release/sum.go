package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
)

// sums is the file with the checksums of all others, as sha256sum reads it.
const sums = "SHA256SUMS"

// checksums writes the file of checksums.
func (r *release) checksums(_ context.Context) error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var lines bytes.Buffer
	for _, e := range entries {
		hash, err := digest(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%s  %s\n", hash, e.Name())
	}
	return os.WriteFile(filepath.Join(r.out, sums), lines.Bytes(), 0o644) //nolint:gosec // for all
}

// digest is the SHA-256 of a file, in hexadecimal.
func digest(path string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sha256.Sum256(content)), nil
}
