package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// entry is a file or a folder in an archive.
type entry struct {
	name    string // of a folder with a slash at its end
	mode    int64
	owner   int
	content []byte
}

// write makes a file of the release with the entries, packed by pack.
func (r *release) write(name string, pack func(io.Writer, time.Time, []entry) error, entries []entry) (err error) {
	f, err := os.OpenFile(filepath.Join(r.out, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644) //nolint:gosec // for all
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return pack(f, r.time, entries)
}

// tarred writes a tar archive. Times and owners do not come from the machine that packs.
func tarred(to io.Writer, at time.Time, entries []entry) error {
	archive := tar.NewWriter(to)
	for _, e := range entries {
		header := &tar.Header{
			Name: e.name, Mode: e.mode, Size: int64(len(e.content)), Uid: e.owner, Gid: e.owner,
			ModTime: at.UTC().Truncate(time.Second), Typeflag: tar.TypeReg, Format: tar.FormatPAX,
		}
		if e.name[len(e.name)-1] == '/' {
			header.Typeflag = tar.TypeDir
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(e.content); err != nil {
			return err
		}
	}
	return archive.Close()
}

// tarGzip writes a compressed tar archive.
func tarGzip(to io.Writer, at time.Time, entries []entry) error {
	compressed := gzip.NewWriter(to)
	if err := tarred(compressed, at, entries); err != nil {
		return err
	}
	return compressed.Close()
}

// zipped writes a zip archive.
func zipped(to io.Writer, at time.Time, entries []entry) error {
	archive := zip.NewWriter(to)
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: at.UTC().Truncate(time.Second)}
		header.SetMode(os.FileMode(e.mode))
		w, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := w.Write(e.content); err != nil {
			return err
		}
	}
	return archive.Close()
}

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
