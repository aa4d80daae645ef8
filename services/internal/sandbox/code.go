package sandbox

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// codeCache is a folder of machine code that all processes of one user share, so that a developer's machine compiles a
// module once. Services whose modules come from strangers have none.
//
// An entry is named by the hash of its module. It has a checksum, the path of the engine's file below a folder of
// machine code, and that file. The path has the engine's version, the processor's features and the engine's own hash of
// the module: an engine of another kind compiles the module again and replaces the entry. Children reach no entry. The
// parent adds one from the folder of the child that compiled this module, so that a child whose code is taken over
// writes machine code for its own module alone.
type codeCache struct {
	root *os.Root
	most int64 // bytes of all entries
}

const (
	maxCachedCode = 512 * mib
	// minCachedCode is the least machine code of an entry: the engine makes less in the time in which it is read.
	minCachedCode = 64 * kib
)

// UserCode is the folder for [Options.Code] in programs that a developer runs, "" when this user has no folder for
// caches.
func UserCode() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "matchmaker", "code")
}

// openCodeCache creates the folder. It refuses one that other users can write to: its content is executed.
func openCodeCache(dir string) (*codeCache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err == nil && !isPrivate(info) {
		err = errors.New("it must belong to this user and be open to no other one (chmod 700)")
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &codeCache{root: root, most: maxCachedCode}, nil
}

func (c *codeCache) close() {
	if c != nil {
		_ = c.root.Close()
	}
}

// restore copies the machine code of a module into a folder that has none, unless it has more than so many bytes. It
// returns the path of the file there, "" when there is none.
func (c *codeCache) restore(hash, folder string, most int) string {
	if c == nil || len(machineCode(folder)) > 0 {
		return ""
	}
	entry, err := c.root.ReadFile(hash)
	if err != nil {
		return ""
	}
	made, code, err := parseEntry(hash, entry)
	if err != nil {
		_ = c.remove(hash) // and add makes it again
		return ""
	}
	file := filepath.Join(folder, made)
	if len(code) > most {
		return ""
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil { //nolint:gosec // the path is local
		return ""
	}
	if writeFile(file, code) != nil {
		return ""
	}
	now := time.Now()
	_ = c.root.Chtimes(hash, now, now) // on failure only its age is wrong
	return filepath.ToSlash(made)
}

// parseEntry returns the parts of an entry that is intact.
func parseEntry(hash string, entry []byte) (file string, code []byte, err error) {
	if len(entry) < sha256.Size || !bytes.Equal(entry[:sha256.Size], checksum(hash, entry[sha256.Size:])) {
		return "", nil, errors.New("its checksum is wrong")
	}
	made, code, _ := bytes.Cut(entry[sha256.Size:], []byte{0})
	engine, key := path.Split(string(made))
	if engine == "" || !isHash(key) {
		return "", nil, errors.New("its path is wrong")
	}
	file, err = filepath.Localize(string(made))
	return file, code, err
}

// add makes an entry of what the compiler wrote to the folder of a module. The restored file is not its work; when it
// wrote another one, the engine has no use for that, which is removed.
func (c *codeCache) add(hash, folder, restored string) error {
	if c == nil {
		return nil
	}
	if _, err := c.root.Stat(hash); err == nil && restored == "" {
		return nil // the folder kept the file from before
	}
	for _, made := range machineCode(folder) {
		if made == restored {
			continue
		}
		code, err := readRegular(folder, made)
		if err != nil || len(code) < minCachedCode {
			return err
		}
		if err := c.put(hash, slices.Concat([]byte(made), []byte{0}, code)); err != nil {
			return err
		}
		if restored != "" {
			return os.Remove(filepath.Join(folder, filepath.FromSlash(restored)))
		}
	}
	return nil
}

// put replaces an entry, and removes others if all take too much.
func (c *codeCache) put(hash string, content []byte) error {
	file := hash + "." + rand.Text()
	err := c.root.WriteFile(file, slices.Concat(checksum(hash, content), content), 0o600)
	if err == nil {
		err = c.root.Rename(file, hash)
	}
	if err != nil {
		return errors.Join(err, c.remove(file))
	}
	return c.prune()
}

// prune removes the entries that were not used for longest. Other processes may do the same at the same time, and read
// them: a process that has a file open reads it to its end.
func (c *codeCache) prune() error {
	all, err := fs.ReadDir(c.root.FS(), ".")
	if err != nil {
		return err
	}
	var entries []fs.FileInfo
	var bytes int64
	for _, e := range all {
		info, err := e.Info()
		if err != nil || !isHash(e.Name()) && time.Since(info.ModTime()) < time.Hour {
			continue // removed meanwhile, or about to become an entry
		}
		entries = append(entries, info)
		bytes += info.Size()
	}
	slices.SortFunc(entries, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, e := range entries {
		if bytes <= c.most {
			return nil
		}
		if err := c.remove(e.Name()); err != nil {
			return err
		}
		bytes -= e.Size()
	}
	return nil
}

// remove removes a file that another process may have removed.
func (c *codeCache) remove(name string) error {
	if c == nil {
		return nil
	}
	if err := c.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// checksum is of the content of an entry, which is for one module.
func checksum(hash string, content []byte) []byte {
	h := sha256.New()
	fmt.Fprintln(h, hash)
	h.Write(content)
	return h.Sum(nil)
}

// machineCode lists the engine's files below a folder of machine code.
func machineCode(folder string) []string {
	files, _ := fs.Glob(os.DirFS(folder), "*/*")
	return slices.DeleteFunc(files, func(file string) bool { return !isHash(path.Base(file)) })
}

// readRegular reads a file that a child wrote, which could be something else.
func readRegular(folder, path string) ([]byte, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if info, err := root.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fmt.Errorf("%s is no file", path))
	}
	return root.ReadFile(path)
}
