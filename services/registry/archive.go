package registry

import (
	"bytes"
	"io"
	"iter"
	"path"
	"strconv"
	"strings"

	"matchmaker.dev/services/internal/edge/problem"
)

// Limits of an archive, beside its bytes. Compressed modules were seen at a third to a fifth of their size.
const (
	maxEntries = 256
	maxRatio   = 100     // unpacked to packed, beyond
	freeBytes  = 1 << 20 // which any archive may unpack to
	maxTimes   = 4       // the longest archive there may be
	longest    = 255     // bytes of an entry's name
)

// limits are an upload's limits in bytes.
type limits struct {
	archive int // the uploaded file
	module  int // a module in it
}

// unpacked is the most bytes of a file's whole contents: archive bombs have more.
func (l limits) unpacked(file []byte) int64 {
	return min(maxTimes*int64(l.archive), maxRatio*int64(len(file))+freeBytes)
}

// entry is one of the files in an archive.
type entry struct {
	name string
	// refusal says what an entry is that is no plain file, as in "is a link".
	refusal string
	size    int64 // as the archive declares, which may be a lie
	open    func() (io.ReadCloser, error)
}

// extract finds the module in an uploaded file, which is a .zip, a .tar.gz or the module itself. An archive is flat:
// every entry is a plain file at the top. Files that are no modules are left alone. implementation names the module,
// with or without .wasm, and may be empty when there is one. Returned are the module and its name without .wasm, which
// is empty for a file that is the module. Errors are of the kind Invalid.
func (l limits) extract(file []byte, implementation string) (module []byte, name string, err error) {
	switch {
	case bytes.HasPrefix(file, []byte("\x00asm")):
		if len(file) > l.module {
			return nil, "", l.moduleTooLong("the module")
		}
		return file, "", nil
	case bytes.HasPrefix(file, []byte("PK\x03\x04")), bytes.HasPrefix(file, []byte("PK\x05\x06")):
		return l.pick(zipEntries(file, l.unpacked(file)), implementation)
	case bytes.HasPrefix(file, []byte("\x1f\x8b")):
		return l.pick(tarEntries(file, l.unpacked(file)), implementation)
	}
	return nil, "", refuse("unsupported archive type: it begins like none of .zip, .tar.gz and .wasm")
}

// pick looks at all entries and reads the module that is meant.
func (l limits) pick(entries iter.Seq2[entry, error], implementation string) (module []byte, name string, err error) {
	wanted := stem(implementation)
	var names []string
	seen := map[string]bool{}
	for e, err := range entries {
		if err != nil {
			return nil, "", err
		}
		base, err := e.flat()
		if err != nil {
			return nil, "", err
		}
		if base == "" {
			continue
		}
		// By any case: some file systems could not hold both.
		if key := strings.ToLower(base); seen[key] {
			return nil, "", refuse("the archive holds %s twice", quote(base))
		} else if seen[key] = true; len(seen) > maxEntries {
			return nil, "", refuse("the archive holds more than %d files", maxEntries)
		}
		if stem(base) == base || strings.HasPrefix(base, mac) {
			continue
		}
		names = append(names, base)
		if stem(base) == wanted || wanted == "" && len(names) == 1 {
			if module, err = l.read(e, base); err != nil {
				return nil, "", err
			}
			name = stem(base)
		}
	}
	switch {
	case len(names) == 0:
		return nil, "", refuse("the archive holds no .wasm module")
	case wanted == "" && len(names) > 1:
		return nil, "", problem.New(problem.Invalid, "implementation: missing, and the archive holds several modules: %s",
			list(names))
	case module == nil:
		return nil, "", problem.New(problem.Invalid, "implementation: the archive holds no module %s, it holds %s",
			quote(wanted+".wasm"), list(names))
	}
	return module, name, nil
}

// read unpacks a module. It never holds more than the limit, whatever the archive declares.
func (l limits) read(e entry, name string) ([]byte, error) {
	if e.size > int64(l.module) {
		return nil, l.moduleTooLong(quote(name))
	}
	r, err := e.open()
	if err != nil {
		return nil, damagedArchive(err)
	}
	defer r.Close()
	module, err := io.ReadAll(io.LimitReader(r, int64(l.module)+1))
	switch {
	case err != nil:
		return nil, damagedArchive(err)
	case len(module) > l.module:
		return nil, l.moduleTooLong(quote(name))
	case !bytes.HasPrefix(module, []byte("\x00asm")):
		return nil, refuse("%s is no WebAssembly module: it does not begin with \\0asm", quote(name))
	}
	return module, nil
}

// On a Mac, tar writes a file with such a name beside each file, for what other systems have no place for, and the
// Finder puts the ones of a .zip into a folder. Their users do not see them.
const (
	mac       = "._"
	macFolder = "__MACOSX/"
)

// flat is the entry's name, checked; empty for one that does not matter: the folder that everything is in, and a Mac's.
func (e entry) flat() (string, error) {
	if e.name == "./" || e.name == "." || strings.HasPrefix(e.name, macFolder) {
		return "", nil
	}
	// "tar -c ." writes this before each name.
	name := strings.TrimPrefix(e.name, "./")
	var reason string
	switch {
	case e.refusal != "":
		reason = e.refusal
	case name == "" || name == ".":
		reason = "has no name"
	case len(name) > longest:
		reason = "has a name of more than " + strconv.Itoa(longest) + " bytes"
	case strings.HasPrefix(name, "/"):
		reason = "has an absolute name"
	case name == "..", strings.Contains(name, "../"), strings.Contains(name, `..\`):
		reason = "points out of its folder"
	case strings.Contains(name, "/"):
		reason = "is in a folder"
	case strings.ContainsFunc(name, isUnportable):
		reason = "has a name with characters that file names cannot have everywhere"
	default:
		return name, nil
	}
	return "", refuse("the archive's entry %s %s: an archive is flat, all its entries are plain files without a path",
		quote(e.name), reason)
}

// isUnportable reports whether a character separates paths or drives on some system, or cannot be seen.
func isUnportable(r rune) bool {
	return r == '\\' || r == ':' || !strconv.IsPrint(r) || r == '\uFFFD'
}

// stem is a name without .wasm.
func stem(name string) string {
	if ext := path.Ext(name); strings.EqualFold(ext, ".wasm") {
		return name[:len(name)-len(ext)]
	}
	return name
}
