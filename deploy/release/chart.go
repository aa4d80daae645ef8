package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
)

// chart packs the Helm chart, whose version and image are the release's.
func (r *release) chart(_ context.Context) error {
	chart, err := loader.LoadDir(filepath.Join(r.source, "deploy", "helm", "matchmaker"))
	if err != nil {
		return err
	}
	chart.Metadata.Version, chart.Metadata.AppVersion = r.number(), r.number()
	path, err := chartutil.Save(chart, r.work)
	if err != nil {
		return err
	}
	// Helm writes the time at which it packs.
	packed, err := os.Open(path)
	if err != nil {
		return err
	}
	defer packed.Close()
	plain, err := gzip.NewReader(packed)
	if err != nil {
		return err
	}
	var entries []entry
	for archive := tar.NewReader(plain); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			return err
		}
		entries = append(entries, entry{name: header.Name, mode: 0o644, content: content})
	}
	name := filepath.Base(path)
	r.made = append(r.made, part{name: name})
	return r.write(name, tarGzip, entries)
}
