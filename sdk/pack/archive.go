package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// write makes an archive of the kind that its name says.
func write(file, folder string, files map[string][]byte, at time.Time) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	names := slices.Sorted(maps.Keys(files))
	if strings.HasSuffix(file, ".zip") {
		return zipped(f, folder, names, files, at)
	}
	return tarred(f, folder, names, files, at)
}

func zipped(to io.Writer, folder string, names []string, files map[string][]byte, at time.Time) error {
	archive := zip.NewWriter(to)
	for _, name := range names {
		header := &zip.FileHeader{Name: folder + name, Method: zip.Deflate, Modified: at}
		header.SetMode(0o644)
		w, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := w.Write(files[name]); err != nil {
			return err
		}
	}
	return archive.Close()
}

func tarred(to io.Writer, folder string, names []string, files map[string][]byte, at time.Time) error {
	compressed := gzip.NewWriter(to)
	archive := tar.NewWriter(compressed)
	for _, name := range names {
		err := archive.WriteHeader(&tar.Header{
			Name: folder + name, Mode: 0o644, Size: int64(len(files[name])), ModTime: at, Format: tar.FormatPAX,
		})
		if err != nil {
			return err
		}
		if _, err := archive.Write(files[name]); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), compressed.Close())
}
