package main

import (
	_ "embed" // hostile and undeclared
	"strings"
)

// The attackers' functions in C. Package languages tells that they are what testdata/hostile.c becomes.
var (
	//go:embed testdata/hostile.wasm
	hostile []byte
	//go:embed testdata/hostile-undeclared.wasm
	undeclared []byte
)

// arsenal are the attacker's modules. The others are in wasm.go.
type arsenal struct {
	dir string // for files of the trials
	// hostile does what its settings say; undeclared does the same, and its manifest is empty.
	hostile, undeclared []byte
	// attributes and properties propose nothing, and their manifests name so many, see names.
	attributes, properties map[int][]byte
}

// Numbers of names in manifests: as many as 64 KiB have room for, and as many as may be allowed.
const (
	allNames     = 11_000
	allowedNames = 256
)

func newArsenal(dir string) *arsenal {
	a := &arsenal{dir: dir, hostile: hostile, undeclared: undeclared, attributes: map[int][]byte{},
		properties: map[int][]byte{}}
	for _, n := range []int{allNames, allowedNames} {
		list := `["` + strings.Join(names(n), `","`) + `"]`
		a.attributes[n] = declaring(`{"attributes":`+list+`,"properties":[]}`, "")
		a.properties[n] = declaring(`{"attributes":[],"properties":`+list+`}`, "")
	}
	return a
}

// names are the shortest names.
func names(n int) (all []string) {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	for i := len(letters); len(all) < n; i++ {
		name := ""
		for k := i; k > 0; k /= len(letters) {
			name += string(letters[k%len(letters)])
		}
		all = append(all, name)
	}
	return all
}
