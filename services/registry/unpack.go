package registry

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"iter"
)

// zipEntries yields the entries of a .zip that declares no more than most unpacked bytes. Nothing is unpacked before an
// entry is opened.
func zipEntries(file []byte, most int64) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		// The reader trusts the file and takes some hundred bytes for each of up to 700,000 entries, so count them first. By
		// chance the four bytes are in one of a hundred files of 32 MiB, once.
		if bytes.Count(file, []byte("PK\x01\x02")) > 2*maxEntries {
			yield(entry{}, refuse("the archive holds more than %d files", maxEntries))
			return
		}
		z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			yield(entry{}, damagedArchive(err))
			return
		}
		left := uint64(most)
		for _, f := range z.File {
			if f.UncompressedSize64 > left {
				yield(entry{}, unpacksTooLarge(most))
				return
			}
			left -= f.UncompressedSize64
			e := entry{name: f.Name, refusal: zipRefusal(f.Mode()), size: int64(f.UncompressedSize64), open: f.Open}
			const encrypted = 1
			if f.Flags&encrypted != 0 {
				e.refusal = "is encrypted"
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func zipRefusal(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "is a folder"
	case mode&fs.ModeSymlink != 0:
		return "is a link"
	case !mode.IsRegular():
		return "is no plain file"
	}
	return ""
}

// tarEntries yields the entries of a .tar.gz, of which it unpacks at most most bytes. An entry can be opened until the
// next.
func tarEntries(file []byte, most int64) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		z, err := gzip.NewReader(bytes.NewReader(file))
		if err != nil {
			yield(entry{}, damagedArchive(err))
			return
		}
		unpacked := &bounded{source: z, most: most, left: most}
		t := tar.NewReader(unpacked)
		for {
			h, err := t.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				yield(entry{}, damagedArchive(err))
				return
			}
			if h.Typeflag == tar.TypeXGlobalHeader { // no entry: "git archive" keeps the commit there
				continue
			}
			e := entry{name: h.Name, refusal: tarRefusal(h.Typeflag), size: h.Size,
				open: func() (io.ReadCloser, error) { return io.NopCloser(t), nil }}
			if !yield(e, nil) {
				return
			}
		}
		// To the end, where the checksum is.
		if _, err := io.Copy(io.Discard, unpacked); err != nil {
			yield(entry{}, damagedArchive(err))
		}
	}
}

func tarRefusal(kind byte) string {
	switch kind {
	case tar.TypeReg:
		return ""
	case tar.TypeDir:
		return "is a folder"
	case tar.TypeSymlink, tar.TypeLink:
		return "is a link"
	}
	return "is no plain file"
}

// bounded fails when its source has more than most bytes.
type bounded struct {
	source     io.Reader
	most, left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.source.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, unpacksTooLarge(b.most)
	}
	return n, err
}
