package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// standard is the name under which scanners look for the standard library.
const standard = "std"

// own is what the modules of this repository begin with.
const own = "matchmaker.dev/"

// dependency is a module in a part.
type dependency struct{ path, version, sum string }

// reference names the module as scanners do.
func (d dependency) reference() string { return "pkg:golang/" + d.path + "@" + d.version }

// bomFile is the name of the SBOM.
func (r *release) bomFile() string { return "matchmaker_" + r.number() + "_sbom.cdx.json" }

// bom writes one SBOM: the files of the release, and the modules in each. What a binary has is read from the binary.
func (r *release) bom(context.Context) error {
	modules, files := map[string]dependency{}, []cyclonedx.Component{}
	graph := []cyclonedx.Dependency{}
	for _, p := range r.made {
		hash, err := digest(filepath.Join(r.out, p.name))
		if err != nil {
			return err
		}
		kind := cyclonedx.ComponentTypeApplication
		if p.name == r.imageFile() {
			kind = cyclonedx.ComponentTypeContainer
		}
		files = append(files, cyclonedx.Component{
			BOMRef: p.name, Type: kind, Name: p.name, Version: r.version, Licenses: license(),
			Hashes: &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hash}},
		})
		uses, err := r.uses(p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		references := []string{}
		for _, m := range uses {
			modules[m.reference()] = m
			references = append(references, m.reference())
		}
		slices.Sort(references)
		references = slices.Compact(references)
		graph = append(graph, cyclonedx.Dependency{Ref: p.name, Dependencies: &references})
	}
	slices.SortFunc(files, func(a, b cyclonedx.Component) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(graph, func(a, b cyclonedx.Dependency) int { return cmp.Compare(a.Ref, b.Ref) })
	for _, reference := range slices.Sorted(maps.Keys(modules)) {
		c, err := modules[reference].component()
		if err != nil {
			return err
		}
		files = append(files, c)
	}
	return r.encode(&files, &graph)
}

// uses returns the modules of a part.
func (r *release) uses(p part) ([]dependency, error) {
	uses := p.modules
	binaries := []string{p.path}
	if p.name == r.imageFile() {
		roots, err := trusted()
		if err != nil {
			return nil, err
		}
		uses, binaries = []dependency{roots}, nil
		for _, processor := range processors {
			for _, command := range commands {
				binaries = append(binaries, r.binary(program{command, "linux", processor}))
			}
		}
	}
	for _, binary := range binaries {
		if binary == "" {
			continue
		}
		found, err := modulesIn(binary)
		if err != nil {
			return nil, err
		}
		uses = append(uses, found...)
	}
	for i, m := range uses {
		if strings.HasPrefix(m.path, own) {
			uses[i].version, uses[i].sum = r.version, ""
		}
	}
	return uses, nil
}

// modulesIn reads the modules of a binary from what the Go linker wrote into it.
func modulesIn(binary string) ([]dependency, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	found := []dependency{{path: standard, version: strings.TrimPrefix(info.GoVersion, "go")}, {path: info.Main.Path}}
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		found = append(found, dependency{d.Path, d.Version, d.Sum})
	}
	return found, nil
}

// trusted is the module of the certificates in the image, as it is linked into this program.
func trusted() (dependency, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return dependency{}, errors.New("this program does not know its modules: build it with modules")
	}
	for _, d := range info.Deps {
		if d.Path == "golang.org/x/crypto/x509roots/fallback" {
			return dependency{d.Path, d.Version, d.Sum}, nil
		}
	}
	return dependency{}, errors.New("this program does not know the version of its certificates")
}

// license is the license of this repository.
func license() *cyclonedx.Licenses {
	return &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "Apache-2.0"}}}
}

// component describes a module. Its hash comes from go.sum.
func (d dependency) component() (cyclonedx.Component, error) {
	c := cyclonedx.Component{
		BOMRef: d.reference(), Type: cyclonedx.ComponentTypeLibrary, Name: d.path, Version: d.version,
		PackageURL: d.reference(), Scope: cyclonedx.ScopeRequired,
	}
	if strings.HasPrefix(d.path, own) {
		c.Licenses = license()
	}
	if d.sum != "" {
		sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(d.sum, "h1:"))
		if err != nil || len(sum) != sha256.Size {
			return c, fmt.Errorf("%s: the checksum %q is not of the kind h1", d.path, d.sum)
		}
		c.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
	}
	return c, nil
}

// encode writes the document. Its number and time are the commit's.
func (r *release) encode(components *[]cyclonedx.Component, graph *[]cyclonedx.Dependency) (err error) {
	document := cyclonedx.NewBOM()
	document.SerialNumber = uuid.NewSHA1(uuid.NameSpaceURL, []byte(own+"release/"+r.version+"@"+r.commit)).URN()
	document.Metadata = &cyclonedx.Metadata{
		Timestamp: r.time.Format(time.RFC3339),
		Component: &cyclonedx.Component{
			BOMRef: "matchmaker", Type: cyclonedx.ComponentTypeApplication, Name: "matchmaker", Version: r.version,
			Licenses: license(),
		},
	}
	document.Components, document.Dependencies = components, graph
	f, err := os.Create(filepath.Join(r.out, r.bomFile()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return cyclonedx.NewBOMEncoder(f, cyclonedx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(document,
		cyclonedx.SpecVersion1_6)
}
