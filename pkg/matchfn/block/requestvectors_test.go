package block_test

import "encoding/binary"

// refusedRequests are requests that no runner writes. A function that gets one must refuse it: otherwise it would read
// memory outside of the request, or columns that have fewer elements than there are tickets.
func refusedRequests() []vector {
	created, wait := raw{3, "", numbers(1)}, raw{4, "", numbers(2)}
	backfills := []raw{
		meta(1, 1),
		created,
		wait,
		{8, "", numbers(1)},
		{9, "", numbers(1)},
		{10, "", words(nil, 0xffffffff, 0)},
	}
	plain := func(more ...raw) []byte {
		return assemble("MMRQ", append([]raw{meta(1, 0), created, wait}, more...)...)
	}
	filled := func(more ...raw) []byte { return assemble("MMRQ", append(backfills[:6:6], more...)...) }
	without := func(i int) []byte { return assemble("MMRQ", append(backfills[:i:i], backfills[i+1:]...)...) }
	// entry changes a word of the table's entry of section i.
	entry := func(i, word int, value uint32) []byte {
		b := plain()
		binary.LittleEndian.PutUint32(b[table(b)+24*i+4*word:], value)
		return b
	}
	const name, start, size = 1, 3, 4
	return []vector{
		{name: "request-refused-magic", block: assemble("MMAN", meta(1, 0), created, wait)},
		{name: "request-refused-length", block: append(plain(), make([]byte, 8)...)},
		{name: "request-refused-table-outside", block: header(plain(), 3, 1<<31)},
		{name: "request-refused-table-in-header", block: header(plain(), 3, 16)},
		{
			name:  "request-refused-table-misaligned",
			block: header(append(plain(), make([]byte, 8)...), 3, uint32(table(plain())+4), 2, uint32(len(plain())+8)),
		},
		{name: "request-refused-table-long", block: header(plain(), 4, 0xffffffff)},
		{name: "request-refused-name-outside", block: entry(2, name, 0xfffffff8)},
		{name: "request-refused-misaligned", block: misalignedRequest(plain(raw{99, "", []byte{0}}))},
		{name: "request-refused-overlap", block: entry(2, start, 24+32)},
		{name: "request-refused-section-outside", block: entry(2, start, 1<<31)},
		{name: "request-refused-section-in-table", block: entry(2, start, uint32(table(plain())))},
		{name: "request-refused-section-long", block: entry(2, size, 0xffffffff)},
		{
			name:  "request-refused-short-meta",
			block: assemble("MMRQ", raw{1, "", make([]byte, 24)}, raw{3, "", nil}, raw{4, "", nil}),
		},
		{name: "request-refused-without-created", block: assemble("MMRQ", meta(1, 0), wait)},
		{name: "request-refused-without-wait", block: assemble("MMRQ", meta(1, 0), created)},
		{name: "request-refused-without-backfill-created", block: without(3)},
		{name: "request-refused-without-backfill-version", block: without(4)},
		{name: "request-refused-without-backfill-connection", block: without(5)},
		{name: "request-refused-long-attribute", block: plain(raw{5, "skill", numbers(1, 2)})},
		{name: "request-refused-short-property", block: plain(raw{6, "kit", words(nil, 0)})},
		{name: "request-refused-half-a-number", block: plain(raw{7, "all", []byte{0, 0}})},
		{name: "request-refused-short-backfill-attribute", block: filled(raw{11, "missing", nil})},
		{name: "request-refused-short-backfill-property", block: filled(raw{12, "map", words(nil, 0)})},
		{name: "request-refused-short-players", block: plain(raw{14, "", words(nil, 0)})},
		{name: "request-refused-first-player", block: plain(raw{14, "", words(nil, 1, 2)})},
		{name: "request-refused-no-player", block: plain(raw{14, "", words(nil, 0, 0)})},
		{
			name:  "request-refused-short-player-attribute",
			block: plain(raw{14, "", words(nil, 0, 2)}, raw{17, "role", numbers(1)}),
		},
		{
			name:  "request-refused-players-after-attribute",
			block: plain(raw{17, "role", numbers(1)}, raw{14, "", words(nil, 0, 2)}),
		},
		{name: "request-refused-short-player-handles", block: plain(raw{15, "", nil})},
		{
			name:  "request-refused-short-player-property",
			block: plain(raw{14, "", words(nil, 0, 2)}, raw{18, "a", words(nil, 0, 0)}),
		},
		{name: "request-refused-short-player-ids", block: plain(raw{16, "", words(nil, 0)})},
		{name: "request-refused-short-backfill-players", block: filled(raw{19, "", words(nil, 0)})},
		{name: "request-refused-first-backfill-player", block: filled(raw{19, "", words(nil, 1, 2)})},
		{name: "request-refused-backfill-players-descend", block: assemble("MMRQ", meta(1, 2), created, wait,
			raw{8, "", numbers(1, 1)}, raw{9, "", numbers(1, 1)},
			raw{10, "", words(nil, 0xffffffff, 0, 0xffffffff, 0)}, raw{19, "", words(nil, 0, 2, 1)})},
		{
			name:  "request-refused-short-backfill-player-teams",
			block: filled(raw{19, "", words(nil, 0, 2)}, raw{22, "", words(nil, 0, 0)}),
		},
		{
			name:  "request-refused-short-backfill-player-roles",
			block: filled(raw{19, "", words(nil, 0, 2)}, raw{23, "", nil}),
		},
		{
			name:  "request-refused-short-backfill-player-ids",
			block: filled(raw{19, "", words(nil, 0, 2)}, raw{21, "", words(nil, 0, 0)}),
		},
		{
			name:  "request-refused-short-backfill-player-handles",
			block: filled(raw{19, "", words(nil, 0, 2)}, raw{20, "", numbers(1)}),
		},
		{
			name:  "request-refused-short-backfill-player-attribute",
			block: filled(raw{19, "", words(nil, 0, 2)}, raw{24, "role", numbers(1)}),
		},
		{
			name:  "request-refused-backfill-players-after-teams",
			block: filled(raw{22, "", nil}, raw{19, "", words(nil, 0, 0)}),
		},
		{name: "request-refused-half-a-barred", block: filled(raw{25, "", words(nil, 0)})},
		{name: "request-refused-barred-of-no-game", block: filled(raw{25, "", words(nil, 1, 0)})},
		{name: "request-refused-barred-without-ticket", block: filled(raw{25, "", words(nil, 0, 1)})},
		{name: "request-refused-barred-twice", block: filled(raw{25, "", words(nil, 0, 0, 0, 0)})},
		{name: "request-refused-half-a-backfill-number", block: filled(raw{13, "open", []byte{0, 0, 0, 0, 0}})},
	}
}

// misalignedRequest moves the last section by four bytes, within its padding.
func misalignedRequest(b []byte) []byte {
	count := int(binary.LittleEndian.Uint32(b[16:]))
	b[table(b)+24*(count-1)+12] += 4
	return b
}

// table returns the offset of a block's table.
func table(b []byte) int { return int(binary.LittleEndian.Uint32(b[12:])) }

// header changes words of a block's header. The arguments are pairs of a word's number and its value.
func header(b []byte, words ...uint32) []byte {
	for i := 0; i < len(words); i += 2 {
		binary.LittleEndian.PutUint32(b[4*words[i]:], words[i+1])
	}
	return b
}
