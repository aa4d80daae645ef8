// Package keyfile makes keys that sign tokens, and puts files of keys in place.
package keyfile

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"
)

// Generate makes a private Ed25519 key for signatures, whose id is its thumbprint.
func Generate() (jwk.Key, error) {
	_, raw, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	key, err := jwk.Import(raw)
	if err != nil {
		return nil, err
	}
	thumbprint, err := key.Thumbprint(crypto.SHA256)
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]any{
		jwk.KeyIDKey:     base64.RawURLEncoding.EncodeToString(thumbprint),
		jwk.AlgorithmKey: jwa.EdDSA(),
		jwk.KeyUsageKey:  jwk.ForSignature,
	} {
		if err := key.Set(name, value); err != nil {
			return nil, err
		}
	}
	return key, nil
}

// Public is the public halves of keys, as a JSON Web Key Set.
func Public(private ...jwk.Key) ([]byte, error) {
	set := jwk.NewSet()
	for _, key := range private {
		public, err := key.PublicKey()
		if err == nil {
			err = set.AddKey(public)
		}
		if err != nil {
			return nil, err
		}
	}
	return json.Marshal(set)
}

// Replace puts a file in place in one step: readers see all of it, or the one that was there.
func Replace(path string, text []byte, mode fs.FileMode) error {
	return put(path, text, mode, os.Rename)
}

// Create puts a file in place in one step, unless there is one: that is fs.ErrExist.
func Create(path string, text []byte, mode fs.FileMode) error {
	return put(path, text, mode, os.Link) // unlike a rename, a link never replaces
}

// put writes a file beside path and moves it there.
func put(path string, text []byte, mode fs.FileMode, move func(from, to string) error) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // which a rename has taken away
	_, err = file.Write(text)
	if err = errors.Join(err, file.Chmod(mode), file.Sync(), file.Close()); err != nil {
		return err
	}
	return move(file.Name(), path)
}
