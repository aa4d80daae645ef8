package main

import (
	"crypto/md5" //nolint:gosec // it names files, it proves nothing
	"encoding/binary"
	"encoding/hex"
	"maps"
	"path"
	"regexp"
	"strings"
)

// digest is what an engine knows a file by. It depends on its path alone, so that it stays when the package is updated.
func digest(file string) [md5.Size]byte {
	return md5.Sum([]byte("dev.matchmaker.client/" + file)) //nolint:gosec // as above
}

// metas adds Unity's file beside each file and folder. Unity ignores what has none.
func metas(files map[string][]byte) {
	all := map[string]bool{} // whether it is a folder
	for file := range files {
		all[file] = false
		for folder := path.Dir(file); folder != "."; folder = path.Dir(folder) {
			all[folder] = true
		}
	}
	for file, folder := range all {
		if strings.HasSuffix(file, "~") {
			continue // Unity does not look into it
		}
		guid := digest(file)
		text := "fileFormatVersion: 2\nguid: " + hex.EncodeToString(guid[:]) + "\n"
		if folder {
			text += "folderAsset: yes\n"
		}
		files[file+".meta"] = []byte(text + importer(file, folder) + ":\n" +
			"  externalObjects: {}\n  userData: \n  assetBundleName: \n  assetBundleVariant: \n")
	}
}

// importer is what Unity reads a file with.
func importer(file string, folder bool) string {
	kinds := map[string]string{
		".cs": "MonoImporter", ".asmdef": "AssemblyDefinitionImporter", ".json": "PackageManifestImporter",
		".md": "TextScriptImporter",
	}
	if kind := kinds[path.Ext(file)]; kind != "" && !folder {
		return kind
	}
	return "DefaultImporter"
}

// uids adds the file that Godot 4.4 and later keep beside each script.
func uids(files map[string][]byte) {
	const letters = "abcdefghijklmnopqrstuvwxy012345678"
	added := map[string][]byte{}
	for file := range files {
		if path.Ext(file) != ".gd" {
			continue
		}
		d := digest("godot/" + file)
		text := ""
		for n := binary.BigEndian.Uint64(d[:]) >> 1; n > 0; n /= uint64(len(letters)) {
			text = string(letters[n%uint64(len(letters))]) + text
		}
		added[file+".uid"] = []byte("uid://" + text + "\n")
	}
	maps.Copy(files, added)
}

// forGodot3 spells a file for Godot 4 as Godot 3 does.
func forGodot3(text []byte) []byte {
	for _, r := range []struct{ four, three string }{
		{`(?m)^@(export|tool)\b`, `$1`},
		{`\b(\w+)\.(\w+)\.connect\((\w+)\)`, `$1.connect("$2", self, "$3")`},
		{`Callable\((self, "\w+")\)`, `$1`},
		{`: (Array|RefCounted|String)\b`, ``}, // types of signals
		{`\bNOTIFICATION_APPLICATION_`, `MainLoop.NOTIFICATION_APP_`},
	} {
		text = regexp.MustCompile(r.four).ReplaceAll(text, []byte(r.three))
	}
	return text
}
