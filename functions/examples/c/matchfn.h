// SPDX-License-Identifier: Apache-2.0

// matchfn.h is all that a match function in C needs. It reads requests and writes answers as
// pkg/matchfn/block/FORMAT.md describes, without any library. A function is one file that includes this one and
// defines:
//
//	const char mm_wants[] = "{\"attributes\":[\"skill\"],\"properties\":[]}"; // the manifest: what it reads
//	const char *mm_match(const mm_request *r);                               // NULL, or the error of the run
//
// Tickets are numbers from 0. What the functions here return is valid until the end of the run: then all memory is
// freed at once.
#ifndef MATCHFN_H
#define MATCHFN_H

#include <stddef.h>
#include <stdint.h>

// mm_text are bytes, which need not end with a zero. It is absent if data is NULL.
typedef struct { const char *data; uint32_t size; } mm_text;

// mm_pool are numbers: those of tickets, ascending, unless something else is said.
typedef struct { const uint32_t *tickets; uint32_t count; } mm_pool;

typedef struct { uint32_t kind, name, name_size, start, size, zero; } mm_section;

typedef struct {
	int64_t now;   // Unix milliseconds: the sandbox has no clock
	uint64_t seed; // for random numbers: the sandbox has none
	uint32_t budget; // milliseconds that the run may take
	uint32_t tickets, backfills; // how many
	// How many attributes and properties of the tickets are not in the request, at least: 0 if the manifest names what
	// the function reads.
	uint32_t left_out_attributes, left_out_properties;
	mm_text config; // the config's settings, a JSON object; absent if there are none
	const double *created, *wait; // of the tickets: in Unix milliseconds; in seconds
	// How many players the tickets have in all: see mm_first_player. The handles are NULL unless the manifest asks for them.
	uint32_t players;
	const uint32_t *player_starts;
	const uint64_t *player_handles;
	const double *backfill_created;
	const int64_t *backfill_version;
	// How many players the running games have in all, as far as they are known: see mm_first_backfill_player. The handles
	// are NULL unless the manifest asks for them.
	uint32_t backfill_players;
	const uint32_t *backfill_player_starts;
	const uint64_t *backfill_player_handles;
	mm_pool barred; // pairs of a backfill ticket and a ticket that must not join it: it has a player of the game
	mm_pool asked;  // the tickets of which somebody wants to know why they are in no match, usually none: see mm_explain
	const char *block;
	const mm_section *sections;
	uint32_t count;
} mm_request;

// Sections of a request that have a name.
enum { MM_ATTRIBUTE = 5, MM_PROPERTY, MM_POOL, MM_BACKFILL_CONNECTION = 10, MM_BACKFILL_ATTRIBUTE, MM_BACKFILL_PROPERTY, MM_BACKFILL_POOL,
	MM_PLAYER_ID = 16, MM_PLAYER_ATTRIBUTE, MM_PLAYER_PROPERTY,
	MM_BACKFILL_PLAYER_ID = 21, MM_BACKFILL_PLAYER_TEAM, MM_BACKFILL_PLAYER_ROLE, MM_BACKFILL_PLAYER_ATTRIBUTE };

// The fields of a proposal, see mm_set.
enum {
	MM_TEAM_NAME = 1, MM_CONNECTION, MM_ERROR, MM_ASSIGNMENT_PROPERTIES, MM_MATCH_PROPERTIES, MM_TICKET_PROPERTIES, MM_REGION, MM_FLEET,
	MM_PROFILE, MM_BACKFILL_CREATE, MM_BACKFILL_UPDATE, MM_BACKFILL_SET_ATTRIBUTE, MM_BACKFILL_SET_PROPERTY, MM_BACKFILL_REMOVE,
	MM_MEASURE, // how good the match is, for people: a name, and a finite number
};

extern const char mm_wants[];
const char *mm_match(const mm_request *r);

// Memory

extern char __heap_base[];
static char *mm_top, *mm_block;

// mm_reserve returns memory at a multiple of 8, or NULL if there is none.
static inline void *mm_reserve(uint64_t size) {
	uint64_t start = (uintptr_t)mm_top, end = (start + size + 7) & ~7ull, have = (uint64_t)__builtin_wasm_memory_size(0) << 16;
	if (end > UINT32_MAX || (end > have && __builtin_wasm_memory_grow(0, (end - have + 65535) >> 16) == SIZE_MAX)) return NULL;
	mm_top = (char *)(uintptr_t)end;
	return (char *)(uintptr_t)start;
}

// mm_take is mm_reserve, but traps if there is no memory.
static inline void *mm_take(uint64_t size) {
	void *p = mm_reserve(size);
	if (!p) __builtin_trap();
	return p;
}

static inline mm_text mm_string(const char *s) {
	mm_text t = {s, 0};
	while (s && s[t.size]) t.size++;
	return t;
}

// mm_compare compares bytes. A prefix comes first.
static inline int mm_compare(mm_text a, mm_text b) {
	for (uint32_t i = 0; i < a.size && i < b.size; i++)
		if (a.data[i] != b.data[i]) return (unsigned char)a.data[i] < (unsigned char)b.data[i] ? -1 : 1;
	return a.size < b.size ? -1 : a.size > b.size;
}

// The request

static inline mm_text mm_name(const mm_request *r, const mm_section *s) { return (mm_text){r->block + s->name, s->name_size}; }

// mm_next returns the section of a kind after another one (NULL: the first), or NULL if there is none. mm_name returns
// its name.
static inline const mm_section *mm_next(const mm_request *r, uint32_t kind, const mm_section *after) {
	const mm_section *s = after ? after + 1 : r->sections;
	while (s < r->sections + r->count && s->kind != kind) s++;
	return s < r->sections + r->count ? s : NULL;
}

static inline const mm_section *mm_find(const mm_request *r, uint32_t kind, mm_text name) {
	const mm_section *s = NULL;
	while ((s = mm_next(r, kind, s)) && mm_compare(mm_name(r, s), name)) {}
	return s;
}

// mm_rows returns how many tickets, players or backfill tickets the columns of a kind are of.
static inline uint32_t mm_rows(const mm_request *r, uint32_t kind) {
	if (kind >= MM_BACKFILL_PLAYER_ID) return r->backfill_players;
	if (kind >= MM_PLAYER_ID) return r->players;
	return kind >= MM_BACKFILL_CONNECTION ? r->backfills : r->tickets;
}

// mm_first_player returns the number of a ticket's first player. Its last one is that before the first one of the next
// ticket: a ticket t has mm_first_player(r, t + 1) - mm_first_player(r, t) players.
static inline uint32_t mm_first_player(const mm_request *r, uint32_t ticket) {
	return r->player_starts ? r->player_starts[ticket] : ticket;
}

// mm_first_backfill_player returns the number of the first player in the game of a backfill ticket, as mm_first_player
// does. A game may have none.
static inline uint32_t mm_first_backfill_player(const mm_request *r, uint32_t backfill) {
	return r->backfill_player_starts ? r->backfill_player_starts[backfill] : 0;
}

// mm_column returns the column of an MM_ATTRIBUTE, MM_PLAYER_ATTRIBUTE, MM_BACKFILL_ATTRIBUTE or
// MM_BACKFILL_PLAYER_ATTRIBUTE, with NaN where it is missing. It is all NaN if no ticket has it.
static inline const double *mm_column(const mm_request *r, uint32_t kind, mm_text name) {
	const mm_section *s = mm_find(r, kind, name);
	if (s) return (const double *)(r->block + s->start);
	uint32_t n = mm_rows(r, kind);
	double *none = mm_take(8ull * n);
	for (uint32_t i = 0; i < n; i++) none[i] = __builtin_nan("");
	return none;
}
static inline const double *mm_attribute(const mm_request *r, const char *name) {
	return mm_column(r, MM_ATTRIBUTE, mm_string(name));
}

// mm_value returns the value of an MM_PROPERTY, an MM_PLAYER_PROPERTY, an MM_BACKFILL_PROPERTY or (without a name) an
// MM_PLAYER_ID, MM_BACKFILL_CONNECTION or MM_BACKFILL_PLAYER_ID, _TEAM or _ROLE for ticket or player i.
static inline mm_text mm_value(const mm_request *r, uint32_t kind, mm_text name, uint32_t i) {
	const mm_section *s = mm_find(r, kind, name);
	uint32_t n = mm_rows(r, kind);
	if (!s || i >= n) return (mm_text){0};
	const uint32_t *span = (const uint32_t *)(r->block + s->start) + 2 * (uint64_t)i;
	if (span[0] == UINT32_MAX || 8ull * n + span[0] + span[1] > s->size) return (mm_text){0};
	return (mm_text){r->block + s->start + 8 * n + span[0], span[1]};
}
static inline mm_text mm_property(const mm_request *r, const char *name, uint32_t ticket) {
	return mm_value(r, MM_PROPERTY, mm_string(name), ticket);
}

// mm_numbers returns an MM_POOL or an MM_BACKFILL_POOL. It is empty if the config does not have the pool.
static inline mm_pool mm_numbers(const mm_request *r, uint32_t kind, mm_text name) {
	const mm_section *s = mm_find(r, kind, name);
	return s ? (mm_pool){(const uint32_t *)(r->block + s->start), s->size / 4} : (mm_pool){0};
}
static inline mm_pool mm_tickets(const mm_request *r, const char *pool) {
	return mm_numbers(r, MM_POOL, mm_string(pool));
}

static inline int mm_fits(const mm_request *r, const mm_section *s) {
	switch (s->kind) {
	case 3: case 4: case 5: return s->size == 8ull * r->tickets;
	case 6: return s->size >= 8ull * r->tickets;
	case 8: case 9: case 11: return s->size == 8ull * r->backfills;
	case 10: case 12: return s->size >= 8ull * r->backfills;
	case 7: case 13: case 26: return s->size % 4 == 0;
	case 14: return s->size == 4 * (r->tickets + 1ull);
	case 15: case 17: return s->size == 8ull * r->players;
	case 16: case 18: return s->size >= 8ull * r->players;
	case 19: return s->size == 4 * (r->backfills + 1ull);
	case 20: case 24: return s->size == 8ull * r->backfill_players;
	case 21: case 22: case 23: return s->size >= 8ull * r->backfill_players;
	case 25: return s->size % 8 == 0;
	}
	return 1; // unknown: from a later version of the format
}

// mm_read_games reads the sections of players in running games. It returns NULL, or what is wrong.
static inline const char *mm_read_games(mm_request *r, const mm_section *s, uint32_t before) {
	const uint32_t *words = (const uint32_t *)(r->block + s->start);
	if (s->kind == 19) {
		if (words[0] || before & 0x1f00000) return "the first player in a game of the request is not the first one";
		for (uint32_t i = 0; i < r->backfills; i++)
			if (words[i + 1] < words[i]) return "the players of a game of the request end before they start";
		r->backfill_player_starts = words, r->backfill_players = words[r->backfills];
	}
	if (s->kind == 20) r->backfill_player_handles = (const uint64_t *)words;
	if (s->kind == 25) {
		for (uint32_t i = 0; i < s->size / 4; i += 2) {
			if (words[i] >= r->backfills || words[i + 1] >= r->tickets) return "the request bars a ticket that it has not";
			if (i && (words[i] < words[i - 2] || (words[i] == words[i - 2] && words[i + 1] <= words[i - 1])))
				return "the request bars tickets out of order";
		}
		r->barred = (mm_pool){words, s->size / 4};
	}
	return NULL;
}

// mm_read_asked reads the section of tickets that somebody asks about. It returns NULL, or what is wrong.
static inline const char *mm_read_asked(mm_request *r, const mm_section *s) {
	const uint32_t *tickets = (const uint32_t *)(r->block + s->start);
	for (uint32_t i = 0; i < s->size / 4; i++)
		if (tickets[i] >= r->tickets || (i && tickets[i] <= tickets[i - 1])) return "the request asks about tickets that it has not";
	r->asked = (mm_pool){tickets, s->size / 4};
	return NULL;
}

// mm_read views a block as a request. It returns NULL, or what is wrong with the block.
static inline const char *mm_read(mm_request *r, const char *block, uint32_t length) {
	const uint32_t *head = (const uint32_t *)block;
	if (length < 24 || mm_compare((mm_text){block, 4}, mm_string("MMRQ")) || head[1] != 1 || head[2] != length || length % 8)
		return "the request is no block of version 1";
	if (head[3] % 8 || head[3] < 24 || head[3] + 24ull * head[4] > length) return "the request's table lies outside";
	*r = (mm_request){.block = block, .sections = (const mm_section *)(block + head[3]), .count = head[4]};
	uint64_t end = 24;
	uint32_t has = 0;
	for (const mm_section *s = r->sections; s < r->sections + r->count; s++) {
		if ((uint64_t)s->name + s->name_size > length || s->start % 8 || s->start < end || (uint64_t)s->start + s->size > head[3])
			return "a section of the request is misaligned, overlaps or lies outside";
		end = (uint64_t)s->start + s->size;
		const char *data = block + s->start;
		if (s == r->sections) {
			if (s->kind != 1 || s->size < 32) return "the request begins without its meta section";
			const uint32_t *words = (const uint32_t *)data;
			r->now = *(const int64_t *)data, r->seed = *(const uint64_t *)(data + 8);
			r->budget = words[4], r->tickets = r->players = words[5], r->backfills = words[6];
			if (s->size >= 40) r->left_out_attributes = words[8], r->left_out_properties = words[9];
			continue;
		}
		if (!mm_fits(r, s)) return "a section of the request has another length than its kind";
		if (s->kind < 32) has |= 1u << s->kind;
		if (s->kind == 2) r->config = (mm_text){data, s->size};
		if (s->kind == 3) r->created = (const double *)data;
		if (s->kind == 4) r->wait = (const double *)data;
		if (s->kind == 8) r->backfill_created = (const double *)data;
		if (s->kind == 9) r->backfill_version = (const int64_t *)data;
		if (s->kind == 14) {
			r->player_starts = (const uint32_t *)data, r->players = r->player_starts[r->tickets];
			if (r->player_starts[0] || has & 0x78000) return "the first player of the request is not the first one";
			for (uint32_t i = 0; i < r->tickets; i++)
				if (r->player_starts[i + 1] <= r->player_starts[i]) return "a ticket of the request has no player";
		}
		if (s->kind == 15) r->player_handles = (const uint64_t *)data;
		if (s->kind >= 19 && s->kind <= 26) {
			const char *wrong = s->kind == 26 ? mm_read_asked(r, s) : mm_read_games(r, s, has);
			if (wrong) return wrong;
		}
	}
	if ((has & 0x18) != 0x18 || (r->backfills && (has & 0x700) != 0x700)) return "the request lacks a section";
	return NULL;
}

// The answer

typedef struct { char *data; uint32_t size, room; } mm_list;
typedef struct { uint32_t proposal, field, subject, name, start, size; } mm_part;
typedef struct { uint32_t ticket, candidates, start, size; } mm_explanation;

// The lists of mm_answer are the sections 1 to 6, 8 and 9.
enum { MM_TEAMS, MM_PROPOSALS, MM_TICKETS, MM_SCORES, MM_PARTS, MM_DATA, MM_EXPLANATIONS, MM_REASONS, MM_LISTS };
static mm_list mm_answer[MM_LISTS];
static uint32_t mm_first; // the first part of the latest proposal
static uint8_t *mm_explained; // how many reasons each asked ticket has; NULL until one has

static inline void *mm_push(mm_list *l, const void *data, uint32_t size) {
	if (size > l->room - l->size) {
		mm_list grown = {.size = l->size, .room = 2 * l->size + size + 256};
		grown.data = mm_take(grown.room);
		if (l->size) __builtin_memcpy(grown.data, l->data, l->size);
		*l = grown;
	}
	if (size) __builtin_memcpy(l->data + l->size, data, size);
	l->size += size;
	return l->data + l->size - size;
}

// mm_propose begins a proposal; mm_team adds its tickets. Its score is compared with those of all other proposals:
// higher is better.
static inline void mm_propose(double score) {
	uint32_t teams = mm_answer[MM_TEAMS].size / 4;
	mm_push(&mm_answer[MM_PROPOSALS], &teams, 4);
	mm_push(&mm_answer[MM_SCORES], &score, 8);
	mm_first = mm_answer[MM_PARTS].size / sizeof(mm_part);
}

// mm_team adds a team to the latest proposal.
static inline void mm_team(const uint32_t *tickets, uint32_t count) {
	mm_push(&mm_answer[MM_TICKETS], tickets, 4 * count);
	uint32_t end = mm_answer[MM_TICKETS].size / 4;
	mm_push(&mm_answer[MM_TEAMS], &end, 4);
	mm_list *proposals = &mm_answer[MM_PROPOSALS];
	if (proposals->size) ((uint32_t *)(proposals->data + proposals->size))[-1] = mm_answer[MM_TEAMS].size / 4;
}

// mm_set sets a field of the latest proposal. FORMAT.md says which fields have a subject and a name, and what their
// values are. The last of several values counts.
static inline void mm_set(uint32_t field, uint32_t subject, mm_text name, mm_text value) {
	if (!mm_answer[MM_PROPOSALS].size) return;
	mm_list *list = &mm_answer[MM_PARTS], *data = &mm_answer[MM_DATA];
	mm_part part = {mm_answer[MM_PROPOSALS].size / 4 - 1, field, subject, name.size, data->size, name.size + value.size};
	mm_push(data, name.data, name.size);
	mm_push(data, value.data, value.size);
	mm_push(list, &part, sizeof part);
	// Parts are sorted by field, subject and name: insert this one.
	mm_part *parts = (mm_part *)list->data;
	for (uint32_t i = list->size / sizeof part - 1; i > mm_first; i--) {
		mm_part *before = &parts[i - 1];
		int order = mm_compare((mm_text){data->data + before->start, before->name}, name);
		if (before->subject != subject) order = before->subject < subject ? -1 : 1;
		if (before->field != field) order = before->field < field ? -1 : 1;
		if (order < 0) return;
		if (order > 0) { parts[i] = *before; *before = part; continue; }
		*before = part;
		list->size -= sizeof part;
		for (; i < list->size / sizeof part; i++) parts[i] = parts[i + 1];
		return;
	}
}
static inline void mm_set_text(uint32_t field, const char *value) {
	mm_set(field, 0, (mm_text){0}, mm_string(value));
}
static inline void mm_set_number(uint32_t field, const char *name, double value) {
	mm_set(field, 0, mm_string(name), (mm_text){(const char *)&value, 8});
}

// mm_explain says why a ticket of r->asked is in no match: a reason for people, such as the name of a rule, and how many
// other tickets could be with it if it were not for that; -1 if nobody knows. A reason may have 1,024 bytes, a ticket 16
// reasons. What is more is left out, and so are other tickets.
static inline void mm_explain(const mm_request *r, uint32_t ticket, mm_text reason, int64_t candidates) {
	uint32_t i = 0, count = r->asked.count;
	for (uint32_t end = count; i < end;) {
		uint32_t middle = (i + end) / 2;
		if (r->asked.tickets[middle] < ticket) i = middle + 1;
		else end = middle;
	}
	if (i == count || r->asked.tickets[i] != ticket) return;
	if (reason.size > 1024)
		for (reason.size = 1024; reason.size && (reason.data[reason.size] & 0xc0) == 0x80;) reason.size--; // cut between characters
	if (!mm_explained) mm_explained = __builtin_memset(mm_take(count), 0, count);
	if (!reason.size || mm_explained[i] == 16) return;
	mm_explained[i]++;
	if (candidates >= UINT32_MAX) candidates = UINT32_MAX - 1;
	mm_explanation e = {ticket, candidates < 0 ? UINT32_MAX : (uint32_t)candidates, mm_answer[MM_REASONS].size, reason.size};
	mm_push(&mm_answer[MM_EXPLANATIONS], &e, sizeof e);
	mm_push(&mm_answer[MM_REASONS], reason.data, reason.size);
}

// mm_write writes the lists, or a failure, as a block and returns its address and length.
static inline uint64_t mm_write(const char *failure) {
	if (failure && !*failure) failure = "failed without saying why";
	mm_list said = {(char *)failure, mm_string(failure).size, 0}, *lists = failure ? &said : mm_answer;
	if (said.size > 4096)
		for (said.size = 4096; (failure[said.size] & 0xc0) == 0x80;) said.size--; // cut between characters
	uint32_t count = failure ? 1 : MM_LISTS, table = 24; // explanations and reasons come after the kind of a failure
	for (uint32_t i = 0; i < count; i++) table += (lists[i].size + 7) & ~7u;
	uint32_t length = table + count * sizeof(mm_section), start = 24;
	char *block = mm_take(length);
	__builtin_memcpy(block, "MMAN", 4);
	__builtin_memcpy(block + 4, (uint32_t[]){1, length, table, count, 0}, 20);
	for (uint32_t i = 0; i < count; i++) {
		((mm_section *)(block + table))[i] = (mm_section){.kind = failure ? 7 : i < MM_EXPLANATIONS ? i + 1 : i + 2, .start = start, .size = lists[i].size};
		if (lists[i].size) __builtin_memcpy(block + start, lists[i].data, lists[i].size);
		for (start += lists[i].size; start % 8; start++) block[start] = 0;
	}
	return (uint64_t)(uintptr_t)block << 32 | length;
}

// Tools

// mm_sort_by returns the numbers of n values, sorted by their values: ascending, equal values by number, NaN last. It
// is a radix sort. The import mm.sort of FORMAT.md does the same outside of the module.
static inline uint32_t *mm_sort_by(const double *values, uint32_t n) {
	typedef struct { uint64_t key; uint32_t number; } item;
	item *items = mm_take(sizeof(item) * (uint64_t)n), *other = mm_take(sizeof(item) * (uint64_t)n), *swap;
	uint32_t *numbers = mm_take(4ull * n);
	static uint32_t counts[6][2048]; // digits of 11 bits
	__builtin_memset(counts, 0, sizeof counts);
	for (uint32_t i = 0; i < n; i++) {
		union { double value; uint64_t bits; } v = {values[i] + 0.0}; // -0 becomes 0
		items[i] = (item){values[i] != values[i] ? UINT64_MAX : v.bits >> 63 ? ~v.bits : v.bits | 1ull << 63, i};
		for (int d = 0; d < 6; d++) counts[d][items[i].key >> 11 * d & 2047]++;
	}
	for (int d = 0; d < 6; d++) {
		uint32_t *count = counts[d], sum = 0;
		if (n == 0 || count[items[0].key >> 11 * d & 2047] == n) continue; // all have the same digit
		for (int i = 0; i < 2048; i++) { uint32_t c = count[i]; count[i] = sum; sum += c; }
		for (uint32_t i = 0; i < n; i++) other[count[items[i].key >> 11 * d & 2047]++] = items[i];
		swap = items, items = other, other = swap;
	}
	for (uint32_t i = 0; i < n; i++) numbers[i] = items[i].number;
	return numbers;
}

__attribute__((import_module("wasi_snapshot_preview1"), import_name("fd_write")))
int mm_fd_write(int file, const mm_text *texts, int count, uint32_t *written);

// mm_log writes a line to the function's log.
static inline void mm_log(mm_text line) {
	uint32_t written;
	mm_fd_write(1, (mm_text[]){line, {"\n", 1}}, 2, &written);
}

// What the host calls

__attribute__((export_name("mm_abi"))) uint32_t mm_abi(void) { return 1; }

__attribute__((export_name("mm_manifest"))) uint64_t mm_manifest(void) {
	return (uint64_t)(uintptr_t)mm_wants << 32 | mm_string(mm_wants).size;
}

__attribute__((export_name("mm_alloc"))) char *mm_alloc(uint32_t size) {
	mm_top = (char *)(((uintptr_t)__heap_base + 7) & ~(uintptr_t)7);
	return mm_block = mm_reserve(size);
}

__attribute__((export_name("mm_run"))) uint64_t mm_run(uint32_t length) {
	mm_top = mm_block + (((uint64_t)length + 7) & ~7ull);
	for (int i = 0; i < MM_LISTS; i++) mm_answer[i] = (mm_list){0};
	mm_explained = NULL;
	mm_request r;
	const char *failure = mm_read(&r, mm_block, length);
	return mm_write(failure ? failure : mm_match(&r));
}

#endif
