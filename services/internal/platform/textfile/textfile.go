// Package textfile reads the text files that people write, whatever their editor or shell encodes them in.
package textfile

import (
	"crypto/tls"
	"fmt"
	"os"

	"matchmaker.dev/pkg/matchfn/rules/document"
)

// Read returns the text of a file in UTF-8, without a byte order mark. It may be UTF-16.
func Read(name string) ([]byte, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if text, err = document.Text(text); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return text, nil
}

// KeyPair reads a certificate and its key, in PEM.
func KeyPair(certificate, key string) (pair tls.Certificate, err error) {
	var texts [2][]byte
	for i, name := range []string{certificate, key} {
		if texts[i], err = Read(name); err != nil {
			return pair, err
		}
	}
	return tls.X509KeyPair(texts[0], texts[1])
}
