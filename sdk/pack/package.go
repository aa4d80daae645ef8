package main

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// sourceVersion stands in the manifests of the sources, for the version of the package.
const sourceVersion = "0.1.0"

// bundle is a package. VERSION in file and folder is its version.
type bundle struct {
	name, file string
	folder     string // in the archive
	from       []source
	companions func(files map[string][]byte) // adds what an engine keeps beside each file
}

// source is a folder of the repository, or a file of it.
type source struct {
	from, to string
	rename   [2]string // the ends of names before and after
	without  []string  // names
	spell    func(text []byte) []byte
}

var packages = []bundle{
	{name: "cpp", file: "matchmaker-cpp-VERSION.tar.gz", folder: "matchmaker-cpp-VERSION/", from: []source{
		{from: "LICENSE", to: "LICENSE"}, {from: "sdk/cpp", to: "."},
	}},
	{name: "csharp", file: "matchmaker-csharp-VERSION.tar.gz", folder: "matchmaker-csharp-VERSION/", from: []source{
		{from: "LICENSE", to: "LICENSE"}, {from: "sdk/csharp", to: ".", without: []string{"test"}},
	}},
	{name: "unity", file: "dev.matchmaker.client-VERSION.tgz", folder: "package/", companions: metas, from: []source{
		{from: "LICENSE", to: "LICENSE.md"}, {from: "sdk/unity", to: ".", without: []string{"test"}},
		{from: "sdk/csharp/src", to: "Runtime/Core", without: []string{"HttpTransport.cs"}},
	}},
	{name: "unreal", file: "matchmaker-unreal-VERSION.zip", folder: "Matchmaker/", from: []source{
		{from: "LICENSE", to: "LICENSE"}, {from: "sdk/unreal", to: ".", without: []string{"test"}},
		{from: "sdk/cpp/include/matchmaker", to: "Source/Matchmaking/Public/matchmaker"},
		{
			from: "sdk/cpp/src", to: "Source/Matchmaking/Private/Core", rename: [2]string{".cc", ".cpp"},
			without: []string{"curl.cc", "udp.cc"}, // Unreal's HTTP and sockets send
		},
	}},
	{
		name: "godot3", file: "matchmaker-godot3-VERSION.zip", folder: "addons/matchmaker/",
		from: godot("godot3", forGodot3),
	},
	{
		name: "godot4", file: "matchmaker-godot4-VERSION.zip", folder: "addons/matchmaker/", from: godot("godot4", nil),
		companions: uids,
	},
}

// godot are the sources for a version of Godot: the client, which all versions read, the addon, which is written for
// Godot 4, and what differs.
func godot(version string, spell func([]byte) []byte) []source {
	return []source{
		{from: "LICENSE", to: "LICENSE"}, {from: "sdk/godot/README.md", to: "README.md", spell: spell},
		{from: "sdk/godot/client", to: "client"}, {from: "sdk/godot/addon", to: ".", spell: spell},
		{from: "sdk/godot/" + version, to: "."},
	}
}

// files are a package's files by their paths in it.
func (p bundle) files(root, version string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, s := range p.from {
		begin := filepath.Join(root, filepath.FromSlash(s.from))
		err := filepath.WalkDir(begin, func(file string, entry os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if slices.Contains(s.without, entry.Name()) {
				if entry.IsDir() {
					return filepath.SkipDir
				}
				return nil
			}
			if entry.IsDir() {
				return nil
			}
			content, err := os.ReadFile(file) //nolint:gosec // a file of the repository
			if err != nil {
				return err
			}
			below, err := filepath.Rel(begin, file)
			if err != nil {
				return err
			}
			to := path.Join(s.to, filepath.ToSlash(below))
			if before, ok := strings.CutSuffix(to, s.rename[0]); ok {
				to = before + s.rename[1]
			}
			if s.spell != nil {
				content = s.spell(content)
			}
			if manifest(to) {
				content = bytes.ReplaceAll(content, []byte(sourceVersion), []byte(version))
			}
			files[to] = content
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if p.companions != nil {
		p.companions(files)
	}
	return files, nil
}

// manifest tells the files that name the package's version.
func manifest(file string) bool {
	name := path.Base(file)
	return slices.Contains([]string{"package.json", "plugin.cfg", "CMakeLists.txt"}, name) ||
		strings.HasSuffix(name, ".uplugin")
}
