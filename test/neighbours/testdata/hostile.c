// hostile is a match function that does what a function must not do, as its settings say. With "how":"pair" it behaves.
#include "matchfn.h"

#ifndef WANTS
#define WANTS "{\"attributes\":[\"value\"],\"properties\":[]}"
#endif
const char mm_wants[] = WANTS;

// says tells whether the settings have these words.
static int says(mm_text settings, const char *words) {
	mm_text w = mm_string(words);
	for (uint32_t i = 0; i + w.size <= settings.size; i++)
		if (!mm_compare((mm_text){settings.data + i, w.size}, w)) return 1;
	return 0;
}

// room is how many bytes an answer may have, less what a block needs besides its lists.
static uint32_t room(const mm_request *r) { return (1 << 20) + 1024 * (r->tickets + r->backfills) - 1024; }

// pair proposes the tickets of the pool two by two: those that have a value, or any.
static void pair(const mm_request *r, int any) {
	const double *value = mm_attribute(r, "value");
	uint32_t two[2], n = 0;
	for (uint32_t i = 0; i < r->tickets; i++) {
		if (!any && value[i] != value[i]) continue; // an attribute that did not travel
		two[n++] = i;
		if (n < 2) continue;
		mm_propose(0);
		mm_team(two, 2);
		n = 0;
	}
}

// few is how many tickets proposals are about, so that the others wait on.
static uint32_t few(const mm_request *r) { return r->tickets < 8 ? r->tickets : 8; }

// flood proposes as many pairs as an answer has room for. They overlap.
static void flood(const mm_request *r) {
	uint32_t n = few(r), count = room(r) / 12;
	if (n < 2) return;
	mm_list *teams = &mm_answer[MM_TEAMS], *tickets = &mm_answer[MM_TICKETS];
	*teams = (mm_list){mm_take(4ull * count), 4 * count, 4 * count};
	*tickets = (mm_list){mm_take(8ull * count), 8 * count, 8 * count};
	uint32_t x = 1;
	for (uint32_t i = 0; i < count; i++) {
		x = x * 1664525 + 1013904223;
		uint32_t a = (x >> 8) % n, b = (a + 1 + (x >> 20) % (n - 1)) % n;
		((uint32_t *)teams->data)[i] = 2 * i + 2;
		((uint32_t *)tickets->data)[2 * i] = a, ((uint32_t *)tickets->data)[2 * i + 1] = b;
	}
}

// allowed proposes as much as a run may: 2 proposals for each ticket and 1,000, with 10 tickets in all for each and 1,000.
static uint32_t allowed(const mm_request *r) { return 2 * r->tickets + 1000; }
static void flood_allowed(const mm_request *r) {
	uint32_t n = few(r), mentions = 10 * r->tickets + 1000, each = mentions / allowed(r);
	if (n < 2) return;
	if (each > n) each = n;
	for (uint32_t i = 0; i < allowed(r); i++) {
		uint32_t team[8];
		for (uint32_t k = 0; k < each; k++) team[k] = (i + k) % n;
		mm_propose(i);
		mm_team(team, each);
	}
}

// extras proposes with as many properties as an answer has room for.
static void extras(const mm_request *r, uint32_t size) {
	if (r->tickets < 2) return;
	char *text = mm_take(size);
	for (uint32_t i = 0; i < size; i++) text[i] = 'x';
	__builtin_memcpy(text, "{\"a\":\"", 6);
	__builtin_memcpy(text + size - 2, "\"}", 2);
	mm_list *data = &mm_answer[MM_DATA];
	*data = (mm_list){mm_take(room(r)), 0, room(r)}; // it must not grow twice as large
	for (uint32_t i = 0, left = room(r); left > size + 256 && i < allowed(r); i++, left -= size + 64) {
		uint32_t a = i % few(r);
		mm_propose(i);
		mm_team((uint32_t[]){a, (a + 1) % few(r)}, 2);
		mm_set(MM_MATCH_PROPERTIES, 0, (mm_text){0}, (mm_text){text, size});
	}
}

// teams proposes matches with as many empty teams as an answer has room for.
static void teams(const mm_request *r) {
	uint32_t count = room(r) / 4 - 64;
	if (r->tickets < 2) return;
	mm_propose(1);
	mm_list *list = &mm_answer[MM_TEAMS];
	*list = (mm_list){mm_take(4ull * count), 4 * count, 4 * count};
	mm_push(&mm_answer[MM_TICKETS], (uint32_t[]){0, 1}, 8);
	for (uint32_t i = 0; i < count; i++) ((uint32_t *)list->data)[i] = 2;
	((uint32_t *)mm_answer[MM_PROPOSALS].data)[0] = count;
}

// errors gives every ticket an error of the greatest length.
static void errors(const mm_request *r) {
	char *text = mm_take(4096);
	for (uint32_t i = 0; i < 4096; i++) text[i] = 'x';
	uint32_t most = room(r) / 4200;
	for (uint32_t i = 0; i < r->tickets && i < most; i++) {
		mm_propose(0);
		mm_team(&i, 1);
		mm_set(MM_ERROR, 0, (mm_text){0}, (mm_text){text, 4096});
	}
}

// rewrite changes every backfill ticket, with a ticket for each.
static void rewrite(const mm_request *r) {
	for (uint32_t i = 0; i < r->backfills && i < r->tickets; i++) {
		mm_propose(0);
		mm_team(&i, 1);
		mm_set(MM_BACKFILL_UPDATE, i, (mm_text){0}, (mm_text){0});
		mm_set_number(MM_BACKFILL_SET_ATTRIBUTE, "free", (double)(r->now % 1000));
	}
}

__attribute__((import_module("wasi_snapshot_preview1"), import_name("poll_oneoff")))
int poll_oneoff(const void *in, void *out, uint32_t n, uint32_t *events);

// doze waits for an hour, as often as it must.
static void doze(void) {
	static char subscription[48], event[32];
	*(uint32_t *)(subscription + 16) = 1; // the monotonic clock
	*(uint64_t *)(subscription + 24) = 3600ull * 1000000000;
	uint32_t events;
	for (;;) poll_oneoff(subscription, event, 1, &events);
}

static void spin(void) { for (volatile int i = 0;; i++) {} }

const char *mm_match(const mm_request *r) {
	mm_text s = r->config;
	if (says(s, "\"how\":\"pair\"")) pair(r, 0);
	if (says(s, "\"how\":\"any\"")) pair(r, 1);
	if (says(s, "\"how\":\"hang\"")) spin();
	if (says(s, "\"how\":\"sleep\"")) doze();
	if (says(s, "\"how\":\"trap\"")) __builtin_trap();
	if (says(s, "\"how\":\"fail\"")) return "it was told to fail";
	if (says(s, "\"how\":\"eat\""))
		for (;;) {
			char *p = mm_reserve(1 << 20);
			if (!p) spin();
			__builtin_memset(p, 1, 1 << 20);
		}
	if (says(s, "\"how\":\"shout\""))
		for (;;) mm_log(mm_string("x"));
	if (says(s, "\"how\":\"chatter\""))
		for (int i = 0; i < 1000; i++) mm_log(mm_string("this is of no interest to anybody"));
	if (says(s, "\"how\":\"flood\"")) flood(r);
	if (says(s, "\"how\":\"allowed\"")) flood_allowed(r);
	if (says(s, "\"how\":\"extras\"")) extras(r, 65000);
	if (says(s, "\"how\":\"small\"")) extras(r, 64);
	if (says(s, "\"how\":\"teams\"")) teams(r);
	if (says(s, "\"how\":\"errors\"")) errors(r);
	if (says(s, "\"how\":\"rewrite\"")) rewrite(r);
	return NULL;
}
