package lab

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxModule bounds a module in an archive, in bytes. A service refuses modules above 8 MiB by default.
const maxModule = 64 << 20

// readModule reads a module, or the module in an archive.
func readModule(file string) ([]byte, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(content, []byte("\x00asm")):
		return content, nil
	case bytes.HasPrefix(content, []byte("PK\x03\x04")):
		content, err = moduleInArchive(content)
	default:
		err = errors.New("neither a .wasm module nor a .zip archive")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return content, nil
}

// moduleInArchive reads the only module in an archive.
func moduleInArchive(archive []byte) ([]byte, error) {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, err
	}
	var found *zip.File
	for _, f := range z.File {
		if !strings.EqualFold(filepath.Ext(f.Name), ".wasm") {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("the archive has several modules, %q and %q: give the one to test as a .wasm file",
				found.Name, f.Name)
		}
		found = f
	}
	if found == nil {
		return nil, errors.New("the archive has no .wasm module")
	}
	r, err := found.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, maxModule))
}
