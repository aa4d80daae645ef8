package main

import (
	"fmt"
	"slices"
	"strings"
)

// A small assembler for modules that no compiler writes.

const (
	i32 = 0x7f
	i64 = 0x7e
)

// function is a function of a module.
type function struct {
	export          string // "" when it is not exported
	params, results []byte
	locals          int    // of type i64
	code            []byte // without the final end
}

// assemble makes a match function that proposes nothing, with more functions. salt makes it unique.
func assemble(salt string, more ...function) []byte {
	return declaring(`{"attributes":[],"properties":[]}`, salt, more...)
}

// declaring is assemble with a manifest.
func declaring(manifest, salt string, more ...function) []byte {
	const answer, wants = 16, 64
	// Requests come behind the manifest, and memory grows as they need.
	requests := (wants + len(manifest) + 7) &^ 7
	grow := slices.Concat(
		[]byte{0x20, 0}, i32c(requests+1<<16-1), []byte{0x6a}, i32c(16), []byte{0x76}, // pages that the request needs,
		[]byte{0x3f, 0, 0x6b, 0x22, 0}, i32c(0), []byte{0x4a}, // less those that there are: if they are more than 0
		[]byte{0x04, 0x40, 0x20, 0, 0x40, 0, 0x1a, 0x0b})
	funcs := append([]function{
		{export: "mm_abi", results: []byte{i32}, code: i32c(1)},
		{export: "mm_alloc", params: []byte{i32}, results: []byte{i32}, code: append(grow, i32c(requests)...)},
		{export: "mm_run", params: []byte{i32}, results: []byte{i64}, code: i64c(answer<<32 | int64(len(noMatch)))},
		{export: "mm_manifest", results: []byte{i64}, code: i64c(wants<<32 | int64(len(manifest)))},
	}, more...)
	var types, numbers, exports, codes [][]byte
	for i, f := range funcs {
		types = append(types, slices.Concat([]byte{0x60}, vec(f.params), vec(f.results)))
		numbers = append(numbers, uleb(i))
		if f.export != "" {
			exports = append(exports, slices.Concat(vec([]byte(f.export)), []byte{0}, uleb(i)))
		}
		locals := []byte{0}
		if f.locals > 0 {
			locals = slices.Concat([]byte{1}, uleb(f.locals), []byte{i64})
		}
		codes = append(codes, vec(slices.Concat(locals, f.code, []byte{0x0b})))
	}
	exports = append(exports, slices.Concat(vec([]byte("memory")), []byte{2, 0}))
	data := noMatch + strings.Repeat("\x00", wants-answer-len(noMatch)) + manifest
	out := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id byte, items ...[]byte) {
		out = append(out, slices.Concat([]byte{id}, vec(slices.Concat(uleb(len(items)), slices.Concat(items...))))...)
	}
	section(1, types...)
	section(3, numbers...)
	section(5, slices.Concat([]byte{0}, uleb(64)))
	section(7, exports...)
	section(10, codes...)
	section(11, slices.Concat([]byte{0}, i32c(answer), []byte{0x0b}, vec([]byte(data))))
	return salted(out, salt)
}

// noMatch is an answer without proposals.
const noMatch = "MMAN\x01\x00\x00\x00\x18\x00\x00\x00\x18\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// salted is a module with a section that makes it unlike all others.
func salted(module []byte, salt string) []byte {
	return slices.Concat(module, []byte{0}, vec(slices.Concat(vec([]byte("salt")), []byte(salt))))
}

// small is a small function that is unlike all others.
func small(n int) []byte { return assemble(fmt.Sprint("small ", n)) }

// wide is a module of about so many bytes that becomes much machine code: functions of loads and stores.
func wide(bytes int) []byte {
	var one []byte
	for len(one) < 16<<10 {
		// local 0 = local 0 + i64.load at local 0
		one = append(one, 0x20, 0, 0x20, 0, 0xa7, 0x29, 3, 0, 0x7c, 0x21, 0)
	}
	one = append(one, 0x20, 0)
	var more []function
	for range bytes / len(one) {
		more = append(more, function{params: []byte{i64}, results: []byte{i64}, code: one})
	}
	return assemble("", more...)
}

// slow is a module that takes long to compile: functions with many locals that change in many branches.
func slow(functions, locals, branches int) []byte {
	var code []byte
	for k := range branches {
		a, b := uleb(k%locals), uleb((k*7+3)%locals)
		// local a = local a + local b, if local b
		for _, part := range [][]byte{{0x20}, b, {0xa7, 0x04, 0x40, 0x20}, a, {0x20}, b, {0x7c, 0x21}, a, {0x0b}} {
			code = append(code, part...)
		}
	}
	// all of it in a loop
	code = slices.Concat([]byte{0x03, 0x40}, code, []byte{0x20, 0, 0xa7, 0x0d, 0, 0x0b, 0x20, 0})
	var more []function
	for range functions {
		more = append(more, function{results: []byte{i64}, locals: locals, code: code})
	}
	return assemble("", more...)
}

func vec(b []byte) []byte { return slices.Concat(uleb(len(b)), b) }

func uleb(n int) (b []byte) {
	for n >= 0x80 {
		b = append(b, byte(n)|0x80)
		n >>= 7
	}
	return append(b, byte(n))
}

func sleb(n int64) (b []byte) {
	for n < -64 || n >= 64 {
		b = append(b, byte(n)|0x80)
		n >>= 7
	}
	return append(b, byte(n)&0x7f)
}

func i32c(n int) []byte   { return append([]byte{0x41}, sleb(int64(n))...) }
func i64c(n int64) []byte { return append([]byte{0x42}, sleb(n)...) }
