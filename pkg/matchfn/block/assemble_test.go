package block_test

import (
	"encoding/binary"
	"math"
)

// raw is a section as another encoder would write it.
type raw struct {
	kind uint32
	name string
	data []byte
}

// assemble writes a block as FORMAT.md says, without the builders.
func assemble(magic string, sections ...raw) []byte {
	block := make([]byte, 24)
	var entries, names []byte
	for _, s := range sections {
		entries = words(entries, s.kind, 0, uint32(len(s.name)), uint32(len(block)), uint32(len(s.data)), 0)
		block = pad(append(block, s.data...))
	}
	table := len(block)
	for i, s := range sections {
		binary.LittleEndian.PutUint32(entries[i*24+4:], uint32(table+len(entries)+len(names)))
		names = append(names, s.name...)
	}
	block = pad(append(append(block, entries...), names...))
	copy(block, magic)
	copy(block[4:], words(nil, 1, uint32(len(block)), uint32(table), uint32(len(sections)), 0))
	return block
}

func answer(sections ...raw) []byte { return assemble("MMAN", sections...) }

func pad(b []byte) []byte {
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	return b
}

func words(b []byte, words ...uint32) []byte {
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

func numbers(values ...float64) []byte {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// Sections of an answer:
func teams(ends ...uint32) raw       { return raw{1, "", words(nil, ends...)} }
func proposals(ends ...uint32) raw   { return raw{2, "", words(nil, ends...)} }
func tickets(numbers ...uint32) raw  { return raw{3, "", words(nil, numbers...)} }
func scores(values ...float64) raw   { return raw{4, "", numbers(values...)} }
func parts(fields ...uint32) raw     { return raw{5, "", words(nil, fields...)} }
func data(text string) raw           { return raw{6, "", []byte(text)} }
func failure(text string) raw        { return raw{7, "", []byte(text)} }
func explanations(of ...uint32) raw  { return raw{8, "", words(nil, of...)} }
func reasons(text string) raw        { return raw{9, "", []byte(text)} }
func unknown(kind uint32, n int) raw { return raw{kind, "later", make([]byte, n)} }

// meta is the meta section of a request, with extra bytes of a later version.
func meta(tickets, backfills uint32, extra ...byte) raw {
	b := binary.LittleEndian.AppendUint64(nil, 1_700_000_000_000)
	b = binary.LittleEndian.AppendUint64(b, 42)
	return raw{1, "", append(words(b, 5000, tickets, backfills, 0), extra...)}
}
