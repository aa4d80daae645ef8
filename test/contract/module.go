package contract

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"mime/multipart"
)

// smallest is a module that is accepted as a match function and does nothing:
//
//	(module
//	  (memory (export "memory") 4)
//	  (func (export "mm_abi") (result i32) i32.const 1)
//	  (func (export "mm_alloc") (param i32) (result i32) i32.const 65536)
//	  (func (export "mm_run") (param i32) (result i64) i64.const 0)
//	  (func (result i64) i64.const 68719476736)
//	  (func (export "_initialize")))
const smallest = "AGFzbQEAAAABFgVgAAF/YAF/AX9gAX8BfmAAAX5gAAADBgUAAQIDBAUDAQAEBzUFBm1lbW9yeQIABm1tX2FiaQAACG1tX2FsbG9jAAEGbW1fcnVuAAILX2luaXRpYWxpemUABAofBQQAQQELBgBBgIAECwQAQgALCQBCgICAgIACCwIACw=="

// module is the smallest module with a section that makes it unique.
func module(salt string) []byte {
	code, _ := base64.StdEncoding.DecodeString(smallest)
	section := append([]byte{4, 's', 'a', 'l', 't'}, salt...)
	return append(append(code, 0, byte(len(section))), section...)
}

type file struct {
	name    string
	content []byte
}

// zipArchive is a .zip. Writing to memory does not fail.
func zipArchive(files ...file) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, f := range files {
		if w, err := z.Create(f.name); err == nil {
			_, _ = w.Write(f.content)
		}
	}
	_ = z.Close()
	return out.Bytes()
}

// tarArchive is a .tar.gz.
func tarArchive(files ...file) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	t := tar.NewWriter(z)
	for _, f := range files {
		_ = t.WriteHeader(&tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.content))})
		_, _ = t.Write(f.content)
	}
	_ = t.Close()
	_ = z.Close()
	return out.Bytes()
}

// form is a form with a field and a file. kind is its content type.
func form(f file) (body []byte, kind string) {
	var out bytes.Buffer
	m := multipart.NewWriter(&out)
	_ = m.WriteField("comment", "the file follows")
	if w, err := m.CreateFormFile("file", f.name); err == nil {
		_, _ = w.Write(f.content)
	}
	_ = m.Close()
	return out.Bytes(), m.FormDataContentType()
}

// zeros is a body of n bytes that takes no memory.
func zeros(n int64) io.Reader { return io.LimitReader(zero{}, n) }

type zero struct{}

func (zero) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
