// Command pack packs clients into the archives that their users install, and prints the archives' names. The same
// sources and version give the same bytes.
//
//	go run ./sdk/pack --out bin/sdk unity unreal
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("pack", flag.ContinueOnError)
	root := flags.String("root", ".", "the repository")
	out := flags.String("out", "", "folder that gets the archives")
	version := flags.String("version", sourceVersion, "version of the packages")
	at := flags.Int64("time", 1<<30, "Unix time of all files")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *out == "" {
		return errors.New("--out is missing")
	}
	if err := os.MkdirAll(*out, 0o755); err != nil { //nolint:gosec // packages are for all
		return err
	}
	for _, name := range flags.Args() {
		if !slices.ContainsFunc(packages, func(p bundle) bool { return p.name == name }) {
			return fmt.Errorf("there is no package %q", name)
		}
	}
	for _, p := range packages {
		if flags.NArg() > 0 && !slices.Contains(flags.Args(), p.name) {
			continue
		}
		files, err := p.files(*root, *version)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		versioned := strings.NewReplacer("VERSION", *version)
		file := filepath.Join(*out, versioned.Replace(p.file))
		if err := write(file, versioned.Replace(p.folder), files, time.Unix(*at, 0).UTC()); err != nil {
			return err
		}
		fmt.Println(filepath.Base(file))
	}
	return nil
}
