package kubernetes

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
)

// picture is an image that is made here, as docker save writes it.
type picture struct {
	name       string
	files      []copied
	user       string
	entrypoint []string
}

// copied is a file of an image; a folder when from and text are empty.
type copied struct {
	to, from, text string
	mode           int64
}

// write writes the image's archive.
func (p picture) write(file string) error {
	layer, err := packed(p.files)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(layer)
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux",
		"config": map[string]any{"User": p.user, "Entrypoint": p.entrypoint, "WorkingDir": "/",
			"Env": []string{"PATH=/usr/local/bin:/bin", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + hex.EncodeToString(sum[:])}},
	})
	if err != nil {
		return err
	}
	index, err := json.Marshal([]map[string]any{
		{"Config": "config.json", "RepoTags": []string{p.name}, "Layers": []string{"layer.tar"}},
	})
	if err != nil {
		return err
	}
	all, err := packed([]copied{
		{to: "config.json", text: string(config), mode: 0o644}, {to: "layer.tar", text: string(layer), mode: 0o644},
		{to: "manifest.json", text: string(index), mode: 0o644},
	})
	if err != nil {
		return err
	}
	return os.WriteFile(file, all, 0o600)
}

// packed is a tar archive.
func packed(files []copied) ([]byte, error) {
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	for _, f := range files {
		content := []byte(f.text)
		if f.from != "" {
			var err error
			if content, err = os.ReadFile(f.from); err != nil {
				return nil, fmt.Errorf("a file of an image: %w", err)
			}
		}
		header := &tar.Header{Name: f.to, Mode: f.mode, Size: int64(len(content)), Typeflag: tar.TypeReg}
		if f.from == "" && f.text == "" {
			header.Name, header.Typeflag = f.to+"/", tar.TypeDir
		}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(content); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), archive.Close()
}
