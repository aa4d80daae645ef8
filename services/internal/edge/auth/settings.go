package auth

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"matchmaker.dev/services/internal/platform/textfile"
)

// Settings name the issuers whose tokens an API trusts.
type Settings struct {
	Issuers string `help:"YAML file with the list of trusted token issuers." type:"existingfile" required:"" placeholder:"FILE" group:"connections"`
}

// Read reads the list of issuers. It refuses unknown members: a mistyped restriction would not restrict.
func (s *Settings) Read() ([]Issuer, error) {
	text, err := textfile.Read(s.Issuers)
	if err != nil {
		return nil, fmt.Errorf("--issuers: %w", err)
	}
	var issuers []Issuer
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&issuers); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("--issuers: %s: %w", s.Issuers, err)
	}
	if len(issuers) == 0 {
		return nil, fmt.Errorf("--issuers: %s: no issuer in it: no caller would be accepted", s.Issuers)
	}
	return issuers, nil
}
