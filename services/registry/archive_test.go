package registry

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"

	"matchmaker.dev/services/internal/edge/problem"
)

var small = limits{archive: 1 << 20, module: 64 << 10}

// packed is a file to put into an archive.
type packed struct {
	name string
	body []byte
	mode fs.FileMode
	kind byte // of tar; 0 is a plain file
	link string
}

func zipped(t testing.TB, files ...packed) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		h.SetMode(f.mode | 0o644)
		w, err := z.CreateHeader(h)
		if err == nil && len(f.body) > 0 {
			_, err = w.Write(f.body)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarred(t testing.TB, files ...packed) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.body)), Typeflag: f.kind, Linkname: f.link}
		if f.kind == 0 {
			h.Typeflag = tar.TypeReg
		}
		if f.kind == tar.TypeXGlobalHeader {
			h = &tar.Header{Typeflag: f.kind, PAXRecords: map[string]string{"comment": "a commit"}}
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(f.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func compressed(t testing.TB, body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestExtract(t *testing.T) {
	a, b := guest{size: 1}.wasm(), guest{size: 2}.wasm()
	readme := packed{name: "README.md", body: []byte("by hand")}
	for name, test := range map[string]struct {
		file           []byte
		implementation string
		module         []byte
		stem           string
	}{
		"bare":        {file: a, module: a},
		"bare, named": {file: a, implementation: "a", module: a},
		"zip":         {file: zipped(t, packed{name: "a.wasm", body: a}), module: a, stem: "a"},
		"zip, other files": {file: zipped(t, readme, packed{name: "a.wasm", body: a}, packed{name: "LICENSE"}), module: a,
			stem: "a"},
		"zip, upper case": {file: zipped(t, packed{name: "A.WASM", body: a}), module: a, stem: "A"},
		"zip, named": {file: zipped(t, packed{name: "a.wasm", body: a}, packed{name: "b.wasm", body: b}),
			implementation: "b", module: b, stem: "b"},
		"zip, named in full": {file: zipped(t, packed{name: "a.wasm", body: a}, packed{name: "b.wasm", body: b}),
			implementation: "a.wasm", module: a, stem: "a"},
		"zip, names alike": {file: zipped(t, packed{name: "a.wasm.wasm", body: b}, packed{name: "a.wasm", body: a}),
			implementation: "a.wasm", module: a, stem: "a"},
		"zip, only one, named": {file: zipped(t, packed{name: "a.wasm", body: a}), implementation: "a", module: a, stem: "a"},
		"tar.gz":               {file: tarred(t, packed{name: "a.wasm", body: a}), module: a, stem: "a"},
		"tar.gz, named": {file: tarred(t, readme, packed{name: "b.wasm", body: b}, packed{name: "a.wasm", body: a}),
			implementation: "b.wasm", module: b, stem: "b"},
		"tar.gz of a folder": {file: tarred(t, packed{name: "./", kind: tar.TypeDir}, packed{name: "./a.wasm", body: a}),
			module: a, stem: "a"},
		"tar.gz of a Mac": {file: tarred(t, packed{name: "._a.wasm", body: []byte("color: red")},
			packed{name: "a.wasm", body: a}), module: a, stem: "a"},
		"zip of the Finder": {file: zipped(t, packed{name: "a.wasm", body: a}, packed{name: "__MACOSX/"},
			packed{name: "__MACOSX/._a.wasm"}), module: a, stem: "a"},
		"tar.gz of git": {file: tarred(t, packed{kind: tar.TypeXGlobalHeader}, packed{name: "a.wasm", body: a}), module: a,
			stem: "a"},
		"the longest module": {file: zipped(t, packed{name: "a.wasm", body: exactly(small.module)}),
			module: exactly(small.module), stem: "a"},
		"the longest bare module": {file: exactly(small.module), module: exactly(small.module)},
	} {
		t.Run(name, func(t *testing.T) {
			module, stem, err := small.extract(test.file, test.implementation)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(module, test.module) || stem != test.stem {
				t.Errorf("got %d bytes named %q, want %d named %q", len(module), stem, len(test.module), test.stem)
			}
		})
	}
}

// exactly is a module of n bytes that a packer cannot make small.
func exactly(n int) []byte {
	noise := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise) // never fails
	return append(guest{}.wasm(), noise...)[:n]
}

func TestExtractRefuses(t *testing.T) {
	a, b := guest{size: 1}.wasm(), guest{size: 2}.wasm()
	ok := packed{name: "a.wasm", body: a}
	whole := zipped(t, ok)
	wholeTar := tarred(t, ok)
	many := make([]packed, maxEntries+1)
	for i := range many {
		many[i] = packed{name: fmt.Sprintf("%d.txt", i)}
	}
	for name, test := range map[string]struct {
		file           []byte
		implementation string
		says           string
	}{
		"text":                 {file: []byte("hello, world"), says: "file: unsupported archive type"},
		"short":                {file: []byte("P"), says: "file: unsupported archive type"},
		"plain tar":            {file: append([]byte("a.wasm"), make([]byte, 1024)...), says: "unsupported archive type"},
		"zip behind something": {file: append([]byte("#!/bin/sh\n"), whole...), says: "unsupported archive type"},
		"bare, too long": {file: exactly(small.module + 1),
			says: "the module is longer than the maximum of 65536 bytes"},
		"zip, empty":        {file: zipped(t), says: "holds no .wasm module"},
		"zip, no module":    {file: zipped(t, packed{name: "a.txt", body: a}), says: "holds no .wasm module"},
		"zip, truncated":    {file: whole[:len(whole)-10], says: "no complete .zip"},
		"zip, damaged":      {file: flipped(whole), says: "the archive is damaged"},
		"zip, empty module": {file: zipped(t, packed{name: "a.wasm"}), says: `"a.wasm" is no WebAssembly module`},
		"zip, false module": {file: zipped(t, packed{name: "a.wasm", body: []byte("text")}),
			says: "is no WebAssembly module"},
		"zip, two modules": {file: zipped(t, ok, packed{name: "b.wasm", body: b}),
			says: `implementation: missing, and the archive holds several modules: "a.wasm", "b.wasm"`},
		"zip, none of the name": {file: zipped(t, ok), implementation: "b",
			says: `implementation: the archive holds no module "b.wasm", it holds "a.wasm"`},
		"zip, twice the name":    {file: zipped(t, ok, ok), says: `holds "a.wasm" twice`},
		"zip, twice by case":     {file: zipped(t, ok, packed{name: "A.wasm", body: b}), says: `holds "A.wasm" twice`},
		"zip, folder":            {file: zipped(t, ok, packed{name: "src/", mode: fs.ModeDir}), says: `"src/" is a folder`},
		"zip, nested":            {file: zipped(t, packed{name: "bin/a.wasm", body: a}), says: `"bin/a.wasm" is in a folder`},
		"zip, nested beside":     {file: zipped(t, ok, packed{name: "src/a.txt"}), says: "is in a folder"},
		"zip, slip":              {file: zipped(t, packed{name: "../a.wasm", body: a}), says: "points out of its folder"},
		"zip, slip behind a dot": {file: zipped(t, packed{name: "./../a.wasm", body: a}), says: "points out of its folder"},
		"zip, slip of Windows":   {file: zipped(t, packed{name: `..\a.wasm`, body: a}), says: "points out of its folder"},
		"zip, only dots":         {file: zipped(t, packed{name: "..", body: a}), says: "points out of its folder"},
		"zip, absolute":          {file: zipped(t, packed{name: "/a.wasm", body: a}), says: "has an absolute name"},
		"zip, absolute by a dot": {file: zipped(t, packed{name: ".//a.wasm", body: a}), says: "has an absolute name"},
		"zip, drive": {file: zipped(t, packed{name: `C:a.wasm`, body: a}),
			says: "characters that file names cannot have"},
		"zip, backslash": {file: zipped(t, packed{name: `bin\a.wasm`, body: a}),
			says: "characters that file names cannot have"},
		"zip, nul": {file: zipped(t, packed{name: "a\x00.wasm", body: a}), says: "characters that file names cannot have"},
		"zip, not UTF-8": {file: zipped(t, packed{name: "\xff.wasm", body: a}),
			says: "characters that file names cannot have"},
		"zip, no name": {file: zipped(t, packed{name: "", body: a}), says: "has no name"},
		"zip, long name": {file: zipped(t, packed{name: strings.Repeat("a", 300) + ".wasm", body: a}),
			says: "name of more than 255 bytes"},
		"zip, link": {file: zipped(t, packed{name: "a.wasm", body: []byte("/etc/passwd"), mode: fs.ModeSymlink}),
			says: "is a link"},
		"zip, device":     {file: zipped(t, packed{name: "a.wasm", mode: fs.ModeDevice}), says: "is no plain file"},
		"zip, encrypted":  {file: encrypted(whole), says: "is encrypted"},
		"zip, many files": {file: zipped(t, many...), says: "more than 256 files"},
		"zip, huge count": {file: append([]byte("PK\x03\x04"), bytes.Repeat([]byte("PK\x01\x02"), 10_000)...),
			says: "more than 256 files"},
		"zip, long module": {file: zipped(t, packed{name: "a.wasm", body: exactly(small.module + 1)}),
			says: `"a.wasm" is longer than the maximum of 65536 bytes`},
		"zip, bomb": {file: zipped(t, ok, packed{name: "zeros", body: make([]byte, 4<<20)}), says: "unpacks to more than"},
		"zip, bomb in parts": {file: zipped(t, ok, packed{name: "1", body: make([]byte, 900<<10)},
			packed{name: "2", body: make([]byte, 900<<10)}), says: "unpacks to more than"},
		"zip, lying bomb":     {file: lying(t, make([]byte, 64<<20)), says: "the archive is damaged"},
		"tar.gz, nothing":     {file: compressed(t, nil), says: "holds no .wasm module"},
		"gz of text":          {file: compressed(t, bytes.Repeat([]byte("text"), 1000)), says: "is no .tar"},
		"gz of a module":      {file: compressed(t, a), says: "the archive is damaged"},
		"gz, magic only":      {file: []byte("\x1f\x8b"), says: "ends too early"},
		"tar.gz, truncated":   {file: wholeTar[:len(wholeTar)/2], says: "ends too early"},
		"tar.gz, no checksum": {file: wholeTar[:len(wholeTar)-8], says: "ends too early"},
		"tar.gz, wrong checksum": {file: append(bytes.Clone(wholeTar[:len(wholeTar)-8]), make([]byte, 8)...),
			says: "a checksum is wrong"},
		"tar.gz, two modules":    {file: tarred(t, ok, packed{name: "b.wasm", body: b}), says: "implementation: missing"},
		"tar.gz, none of name":   {file: tarred(t, ok), implementation: "c.wasm", says: `no module "c.wasm"`},
		"tar.gz, twice the name": {file: tarred(t, ok, packed{name: "./a.wasm", body: b}), says: "twice"},
		"tar.gz, folder":         {file: tarred(t, packed{name: "bin/", kind: tar.TypeDir}, ok), says: `"bin/" is a folder`},
		"tar.gz, nested":         {file: tarred(t, packed{name: "./bin/a.wasm", body: a}), says: "is in a folder"},
		"tar.gz, slip":           {file: tarred(t, packed{name: "../../a.wasm", body: a}), says: "points out of its folder"},
		"tar.gz, absolute":       {file: tarred(t, packed{name: "/etc/a.wasm", body: a}), says: "has an absolute name"},
		"tar.gz, symbolic link": {file: tarred(t, packed{name: "a.wasm", kind: tar.TypeSymlink, link: "/etc/passwd"}),
			says: "is a link"},
		"tar.gz, hard link": {file: tarred(t, ok, packed{name: "b.wasm", kind: tar.TypeLink, link: "a.wasm"}),
			says: "is a link"},
		"tar.gz, device":     {file: tarred(t, packed{name: "a.wasm", kind: tar.TypeChar}), says: "is no plain file"},
		"tar.gz, pipe":       {file: tarred(t, packed{name: "a.wasm", kind: tar.TypeFifo}), says: "is no plain file"},
		"tar.gz, many files": {file: tarred(t, many...), says: "more than 256 files"},
		"tar.gz, long module": {file: tarred(t, packed{name: "a.wasm", body: exactly(small.module + 1)}),
			says: "is longer than the maximum"},
		"tar.gz, bomb": {file: tarred(t, packed{name: "zeros", body: make([]byte, 4<<20)}, ok), says: "unpacks to more than"},
		"tar.gz, bomb at the end": {file: append(bytes.Clone(wholeTar), compressed(t, make([]byte, 4<<20))...),
			says: "unpacks to more than"},
	} {
		t.Run(name, func(t *testing.T) {
			module, _, err := small.extract(test.file, test.implementation)
			if err == nil {
				t.Fatalf("got a module of %d bytes", len(module))
			}
			if problem.KindOf(err) != problem.Invalid {
				t.Errorf("kind %v: %v", problem.KindOf(err), err)
			}
			if !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %q, want it to say %q", err, test.says)
			}
			if module != nil {
				t.Error("got a module beside the error")
			}
		})
	}
}

// TestReadBelievesNoSize reads entries whose declared size is not the real one.
func TestReadBelievesNoSize(t *testing.T) {
	opened := false
	e := entry{open: func() (io.ReadCloser, error) {
		opened = true
		return io.NopCloser(bytes.NewReader(exactly(small.module + 1))), nil
	}}
	e.size = int64(small.module) + 1
	if _, err := small.read(e, "a.wasm"); problem.KindOf(err) != problem.Invalid || opened {
		t.Errorf("declared too long: error %v, opened %v", err, opened)
	}
	e.size = 1
	if module, err := small.read(e, "a.wasm"); problem.KindOf(err) != problem.Invalid {
		t.Errorf("too long: %d bytes, error %v", len(module), err)
	}
}

// lying is a .zip whose entry declares one byte and unpacks to body.
func lying(t *testing.T, body []byte) []byte {
	t.Helper()
	file := zipped(t, packed{name: "a.wasm", body: body})
	central := bytes.Index(file, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(file[central+24:], 1)
	return file
}

// encrypted sets the flag of the first entry.
func encrypted(file []byte) []byte {
	file = bytes.Clone(file)
	file[bytes.Index(file, []byte("PK\x01\x02"))+8] |= 1
	return file
}

// flipped changes what is stored shortly behind the first entry's header.
func flipped(file []byte) []byte {
	file = bytes.Clone(file)
	file[60] ^= 0xff
	return file
}

// FuzzArchive looks for files that make extract panic, hold more than it may, or return what is no module.
func FuzzArchive(f *testing.F) {
	a := packed{name: "a.wasm", body: guest{}.wasm()}
	b := packed{name: "b.wasm", body: guest{size: 1}.wasm()}
	f.Add(a.body, "")
	f.Add(zipped(f, a, b), "b")
	f.Add(tarred(f, a, b), "a.wasm")
	f.Add(zipped(f, a, packed{name: "src/", mode: fs.ModeDir}), "")
	f.Add(tarred(f, packed{name: "l.wasm", kind: tar.TypeSymlink, link: "x"}), "")
	f.Add(compressed(f, make([]byte, 2<<20)), "")
	f.Fuzz(func(t *testing.T, file []byte, implementation string) {
		module, name, err := small.extract(file, implementation)
		if err != nil {
			if problem.KindOf(err) != problem.Invalid || module != nil {
				t.Fatalf("%d bytes and %v", len(module), err)
			}
			return
		}
		if len(module) > small.module || !bytes.HasPrefix(module, []byte("\x00asm")) {
			t.Errorf("a module of %d bytes that begins with %q", len(module), module[:min(8, len(module))])
		}
		if strings.ContainsAny(name, `/\:`) || name == ".." {
			t.Errorf("module is named %q", name)
		}
	})
}
