package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const repository = "../.."

// packed are the files of a package.
func packed(t *testing.T, name string) map[string][]byte {
	t.Helper()
	i := slices.IndexFunc(packages, func(p bundle) bool { return p.name == name })
	files, err := packages[i].files(repository, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestPackagesHaveLicenseReadmeAndVersion(t *testing.T) {
	license, err := os.ReadFile(filepath.Join(repository, "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages {
		files := packed(t, p.name)
		if !bytes.Equal(files["LICENSE"], license) && !bytes.Equal(files["LICENSE.md"], license) {
			t.Errorf("%s: no license", p.name)
		}
		if len(files["README.md"]) == 0 {
			t.Errorf("%s: no README", p.name)
		}
		versioned := p.name == "csharp" // it has no manifest
		for name, content := range files {
			if manifest(name) {
				versioned = versioned || bytes.Contains(content, []byte("1.2.3"))
			}
			if strings.HasPrefix(name, "test/") && p.name != "cpp" {
				t.Errorf("%s: %s does not belong into it", p.name, name)
			}
		}
		if !versioned {
			t.Errorf("%s: its version is nowhere", p.name)
		}
	}
}

// TestPackingIsReproducible packs twice.
func TestPackingIsReproducible(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	for _, out := range []string{first, second} {
		if err := run([]string{"--root", repository, "--out", out, "--version", "1.2.3"}); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(first)
	if err != nil || len(entries) != len(packages) {
		t.Fatal(entries, err)
	}
	for _, e := range entries {
		a, err := os.ReadFile(filepath.Join(first, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(second, e.Name()))
		if err != nil || !bytes.Equal(a, b) {
			t.Error(e.Name(), "differs", err)
		}
	}
}

var guidLine = regexp.MustCompile(`(?m)^guid: ([0-9a-f]{32})$`)

// TestUnityMetas has one for each file and folder, and none more. A GUID that changes breaks the games that use it.
func TestUnityMetas(t *testing.T) {
	files := packed(t, "unity")
	seen := map[string]string{}
	for name, content := range files {
		of, isMeta := strings.CutSuffix(name, ".meta")
		if isMeta {
			guid := guidLine.FindSubmatch(content)
			if guid == nil {
				t.Fatalf("%s has no GUID", name)
			}
			if other := seen[string(guid[1])]; other != "" {
				t.Errorf("%s and %s have the same GUID", name, other)
			}
			seen[string(guid[1])] = name
			folder := slices.ContainsFunc(keys(files), func(n string) bool { return strings.HasPrefix(n, of+"/") })
			if files[of] == nil && !folder {
				t.Errorf("%s is for nothing", name)
			}
			continue
		}
		for ; name != "."; name = path.Dir(name) {
			if files[name+".meta"] == nil && !strings.HasSuffix(name, "~") {
				t.Errorf("%s has no .meta", name)
			}
		}
	}
	for name, want := range map[string]string{
		"package.json.meta":               "c825c5c558141b49d34b26b34d2dca34",
		"Runtime/Core/Matchmaker.cs.meta": "b397841517ef8f5bc02428144bac9df1",
	} {
		if got := string(guidLine.FindSubmatch(files[name])[1]); got != want {
			t.Errorf("%s has the GUID %s, and had %s", name, got, want)
		}
	}
}

func keys(files map[string][]byte) (names []string) {
	for name := range files {
		names = append(names, name)
	}
	return names
}

func TestUnityManifests(t *testing.T) {
	files := packed(t, "unity")
	var p struct {
		Name, Version, Unity string
		Samples              []struct{ DisplayName, Description, Path string }
	}
	if err := json.Unmarshal(files["package.json"], &p); err != nil {
		t.Fatal(err)
	}
	if p.Name != "dev.matchmaker.client" || p.Version != "1.2.3" || p.Unity != "2021.3" || len(p.Samples) != 5 {
		t.Errorf("%+v", p)
	}
	for _, s := range p.Samples {
		if !slices.ContainsFunc(keys(files), func(n string) bool { return path.Dir(n) == s.Path && path.Ext(n) == ".cs" }) {
			t.Errorf("the sample %s has no script", s.Path)
		}
	}
	assemblies := map[string]bool{"UnityEngine.TestRunner": true}
	var references []string
	for name, content := range files {
		if path.Ext(name) == ".asmdef" {
			var a struct {
				Name       string
				References []string
			}
			if err := json.Unmarshal(content, &a); err != nil || a.Name != strings.TrimSuffix(path.Base(name), ".asmdef") {
				t.Error(name, a.Name, err)
			}
			assemblies[a.Name] = true
			references = append(references, a.References...)
		}
		// A MonoBehaviour is found by its file's name.
		for _, m := range regexp.MustCompile(`class (\w+) : MonoBehaviour`).FindAllSubmatch(content, -1) {
			if string(m[1])+".cs" != path.Base(name) {
				t.Errorf("%s has the behaviour %s", name, m[1])
			}
		}
		if path.Ext(name) == ".cs" && regexp.MustCompile(`System\.(Reflection|Net\.Http)\b|\bdynamic\b`).Match(content) {
			t.Errorf("%s uses what IL2CPP or WebGL has not", name)
		}
	}
	for _, r := range references {
		if !assemblies[r] {
			t.Errorf("there is no assembly %s", r)
		}
	}
}

// TestUnrealPlugin checks what Unreal's header tool and build tool would refuse.
func TestUnrealPlugin(t *testing.T) {
	files := packed(t, "unreal")
	var p struct {
		FileVersion int
		VersionName string
		Modules     []struct{ Name, Type, LoadingPhase string }
	}
	if err := json.Unmarshal(files["Matchmaker.uplugin"], &p); err != nil {
		t.Fatal(err)
	}
	if p.FileVersion != 3 || p.VersionName != "1.2.3" || len(p.Modules) != 1 {
		t.Fatalf("%+v", p)
	}
	module := "Source/" + p.Modules[0].Name + "/"
	if !bytes.Contains(files[module+p.Modules[0].Name+".Build.cs"], []byte("class "+p.Modules[0].Name+" : ModuleRules")) {
		t.Error("the module has no rules")
	}
	implemented := []byte("IMPLEMENT_MODULE(FDefaultModuleImpl, " + p.Modules[0].Name + ")")
	if !bytes.Contains(files[module+"Private/MatchmakingModule.cpp"], implemented) {
		t.Error("the module is not implemented")
	}
	if files["Resources/Icon128.png"] == nil || files["Config/FilterPlugin.ini"] == nil {
		t.Error("icon or filter is missing")
	}
	declared := regexp.MustCompile(`(?m)^(UCLASS|USTRUCT)\(`)
	api := regexp.MustCompile(`(?m)^(class|struct) (\w+ )?[UF]\w+( : public \w+)?$`)
	for name, content := range files {
		base := path.Base(name)
		if path.Dir(name) != module+"Public" || path.Ext(name) != ".h" {
			continue
		}
		types := len(declared.FindAll(content, -1))
		if bodies := bytes.Count(content, []byte("GENERATED_BODY()")); bodies != types || types == 0 {
			t.Errorf("%s has %d types and %d generated bodies", name, types, bodies)
		}
		for _, m := range api.FindAllSubmatch(content, -1) {
			if string(m[2]) != "MATCHMAKING_API " {
				t.Errorf("%s: %s is not exported", name, m[0])
			}
		}
		includes := regexp.MustCompile(`(?m)^#include .*$`).FindAllString(string(content), -1)
		if last := includes[len(includes)-1]; last != `#include "`+strings.TrimSuffix(base, ".h")+`.generated.h"` {
			t.Errorf("%s: the last include is %s", name, last)
		}
		source := module + "Private/" + strings.TrimSuffix(base, ".h") + ".cpp"
		if bytes.Contains(content, []byte("UCLASS(")) && files[source] == nil {
			t.Errorf("%s has no .cpp", name)
		}
	}
}

// TestGodot4ReadsTheClient checks for what only Godot 3 reads: Godot 4 is not there to do it.
func TestGodot4ReadsTheClient(t *testing.T) {
	files, three := packed(t, "godot4"), packed(t, "godot3")
	old := regexp.MustCompile(`\byield\(|\bPool\w+Array|\bsetget\b|(?m:^export )|(?m:^tool$)|(?m:^onready )|\bReference\b|` +
		`\bFile\.new|\bDirectory\.new|\bJSON\.print|\bOS\.get_(ticks|system|unix)|\.empty\(\)|\bTYPE_REAL\b|` +
		`connect\("\w+", \w+, "|\bsubarray\(|\.remove\(|\bord_at\(|\bpercent_encode\b|\bfuncref\(|\bfloat\(`)
	now := regexp.MustCompile(`(?m:^@)|\w+\.connect\(\w+\)|Callable|RefCounted|NOTIFICATION_APPLICATION_`)
	uids := map[string]string{}
	for name, content := range files {
		if path.Ext(name) != ".gd" {
			continue
		}
		if found := old.Find(content); found != nil {
			t.Errorf("%s has %q, which Godot 4 does not know", name, found)
		}
		if found := now.Find(three[name]); found != nil && name != "engine.gd" {
			t.Errorf("%s has %q, which Godot 3 does not know", name, found)
		}
		uid := string(files[name+".uid"])
		if !regexp.MustCompile(`^uid://[a-y0-8]+\n$`).MatchString(uid) || uids[uid] != "" {
			t.Errorf("%s has the uid %q, and so has %q", name, uid, uids[uid])
		}
		uids[uid] = name
		for _, m := range regexp.MustCompile(`preload\("res://addons/matchmaker/([^"]*)"\)`).FindAllSubmatch(content, -1) {
			if files[string(m[1])] == nil || three[string(m[1])] == nil {
				t.Errorf("%s loads %s, which is not there", name, m[1])
			}
		}
		functions := regexp.MustCompile(`(?m)^(static )?func \w+\([^)]*\)`)
		got, want := functions.FindAllString(string(content), -1), functions.FindAllString(string(three[name]), -1)
		if !slices.Equal(got, want) && name != "plugin.gd" {
			t.Errorf("%s has the functions %q, and for Godot 3 %q", name, got, want)
		}
	}
}
