package main

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
)

// npm packs the TypeScript client, with the version of the release. The lock file says what compiles it.
func (r *release) npm(ctx context.Context) error {
	for _, arguments := range [][]string{
		{"ci", "--no-audit", "--no-fund", "--loglevel=error"},
		{"version", r.number(), "--no-git-tag-version", "--allow-same-version"},
		{"run", "--silent", "build"},
		{"pack", "--silent", "--pack-destination", r.out},
	} {
		if _, err := r.command(ctx, filepath.Join("sdk", "typescript"), nil, "npm", arguments...); err != nil {
			return err
		}
	}
	r.made = append(r.made, part{name: "matchmaker-client-" + r.number() + ".tgz"})
	return nil
}

// sdks packs the clients of the other languages and engines.
func (r *release) sdks(ctx context.Context) error {
	packed, err := r.command(ctx, "", nil, "go", "run", "./sdk/pack", "--out", r.out, "--version", r.number(),
		"--time", strconv.FormatInt(r.time.Unix(), 10))
	for _, name := range strings.Fields(string(packed)) {
		r.made = append(r.made, part{name: name})
	}
	return err
}
