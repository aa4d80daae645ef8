package main

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// once makes a module once and salts it each time: making it takes the processor of what is measured.
func once(module func() []byte) func(salt string) []byte {
	made := sync.OnceValue(module)
	return func(salt string) []byte { return salted(made(), salt) }
}

// endless takes longer to compile than a module may.
func endless() []byte { return slow(1, 2000, 4000) }

// drip is a body of n spaces that come slowly.
type drip struct {
	ctx context.Context
	n   int
}

// dripping is a body that begins well and comes slowly.
func dripping(ctx context.Context, begin string, n int) io.Reader {
	return io.MultiReader(strings.NewReader(begin), &drip{ctx, n})
}

func (d *drip) Read(p []byte) (int, error) {
	if d.n == 0 {
		return 0, io.EOF
	}
	if !pause(d.ctx, 100*time.Millisecond) {
		return 0, context.Cause(d.ctx)
	}
	n := min(d.n, len(p), 1<<10)
	copy(p, bytes.Repeat([]byte{' '}, n))
	d.n -= n
	return n, nil
}

// uploading uploads modules from projects, in so many lanes each.
func uploading(projects, lanes int, module func(salt string) []byte) func(context.Context, *attacker, func()) error {
	return doing(projects*lanes, func(ctx context.Context, a *attacker, i int) {
		project := attackerProject
		if p := i % projects; p > 0 {
			project = fmt.Sprintf("%s-%d", attackerProject, p)
		}
		if !a.upload(ctx, project, fmt.Sprintf("%s-%d", hostileName, i%15), module(fmt.Sprint(i))) {
			pause(ctx, 50*time.Millisecond)
		}
	})
}

// bomb is an archive of zeros beside a module.
func bomb(salt string) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, content := range map[string][]byte{"function.wasm": assemble(salt), "zeros": make([]byte, 64<<20)} {
		if w, err := z.Create(name); err == nil {
			_, _ = w.Write(content) // writing to memory does not fail
		}
	}
	_ = z.Close()
	return out.Bytes()
}

// bombs are made once: that takes the processor of what is measured.
var bombs = sync.OnceValue(func() []byte { return bomb("bomb") })

func uploadAttacks() []attack {
	return []attack{
		{
			name: "compile-1", says: "uploads that compile for too long, from one project",
			hold: uploading(1, 4, once(endless)),
		},
		{
			name: "compile-4", says: "uploads that compile for too long, from four projects",
			hold: uploading(4, 2, once(endless)),
		},
		{
			name: "compile-seconds", says: "uploads that compile for some seconds and are taken, from four projects",
			hold: uploading(4, 2, once(func() []byte { return slow(2, 1000, 1000) })),
		},
		{
			name: "uploads", says: "uploads of a small module without end, from one project",
			hold: uploading(1, 8, func(salt string) []byte { return assemble(salt) }),
		},
		{
			name: "uploads-large", says: "modules with 7 MB of code, from two projects",
			hold: uploading(2, 2, once(func() []byte { return wide(7 << 20) })),
		},
		{
			name: "uploads-bombs", says: "archives that become a thousand times as large, from two projects",
			hold: uploading(2, 4, func(string) []byte { return bombs() }),
		},
		{
			name: "uploads-slow", says: "100 uploads of 8 MB that are sent slowly, from 20 projects",
			hold: doing(100, func(ctx context.Context, a *attacker, i int) {
				project := fmt.Sprintf("%s-%d", attackerProject, i%20)
				a.request(ctx, "upload", http.MethodPut, project, "registry", base+"/functions/slow",
					dripping(ctx, "\x00asm\x01\x00\x00\x00", 8<<20),
					http.Header{"Content-Type": {"application/octet-stream"}})
			}),
		},
	}
}
