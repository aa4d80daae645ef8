// chaos pairs tickets in the order of their creation, and writes into each match what made it: the settings of its
// config, the edition of this function, when the run began, and who is in it. Or it does all that a function must not do,
// when its settings say how. In C, it is compiled and started in no time, however busy the machine is.
#include "matchfn.h"

#ifndef EDITION
#define EDITION 1
#endif

const char mm_wants[] = "{\"attributes\":[\"number\",\"free\"],\"properties\":[]}";

// text is written to piece by piece.
static struct { char data[1024]; uint32_t size; } text;

static void add(mm_text t) {
	for (uint32_t i = 0; i < t.size && text.size < sizeof text.data; i++) text.data[text.size++] = t.data[i];
}

static void add_number(int64_t n) {
	char digits[24];
	uint32_t i = sizeof digits;
	do digits[--i] = '0' + n % 10; while (n /= 10);
	add((mm_text){digits + i, sizeof digits - i});
}

static void add_string(const char *s) { add(mm_string(s)); }

static mm_text taken(void) {
	mm_text t = {text.data, text.size};
	return t;
}

// says tells whether the settings have these words.
static int says(mm_text settings, const char *words) {
	mm_text w = mm_string(words);
	for (uint32_t i = 0; i + w.size <= settings.size; i++)
		if (!mm_compare((mm_text){settings.data + i, w.size}, w)) return 1;
	return 0;
}

// misbehave does what the settings ask for; NULL when they ask for nothing.
static const char *misbehave(const mm_request *r) {
	if (says(r->config, "\"how\":\"spin\""))
		for (volatile int i = 0;; i++) {}
	if (says(r->config, "\"how\":\"panic\"")) __builtin_trap();
	if (says(r->config, "\"how\":\"eat\""))
		for (;;) __builtin_memset(mm_take(8 << 20), 1, 8 << 20);
	if (says(r->config, "\"how\":\"twice\""))
		for (uint32_t i = 0; i < r->tickets; i++) {
			mm_propose(1);
			mm_team((uint32_t[]){i, i}, 2);
		}
	if (says(r->config, "\"how\":\"shout\"")) {
		for (int i = 0; i < 1000; i++) mm_log(mm_string("this is of no interest to anybody"));
		return "it was told to fail";
	}
	return NULL;
}

// made writes what made a match of tickets, but for the end.
static void made(const mm_request *r, const double *number, const uint32_t *tickets, uint32_t count) {
	text.size = 0;
	add_string("{\"settings\":"), add(r->config), add_string(",\"edition\":"), add_number(EDITION);
	add_string(",\"now\":"), add_number(r->now), add_string(",\"players\":[");
	for (uint32_t i = 0; i < count; i++) add_string(i ? "," : ""), add_number(number[tickets[i]]);
	add_string("]");
}

// propose proposes tickets, each with a word of its own. What text has is for all of them. Each is a team if one wins.
static void propose(const double *number, const uint32_t *tickets, uint32_t count, int wins) {
	mm_propose(0);
	if (!wins) mm_team(tickets, count);
	for (uint32_t i = 0; wins && i < count; i++) {
		mm_team(tickets + i, 1);
		mm_set(MM_TEAM_NAME, i, (mm_text){0}, (mm_text){&"01"[i], 1});
	}
	mm_set(MM_MATCH_PROPERTIES, 0, (mm_text){0}, taken());
	for (uint32_t i = 0; i < count; i++) {
		text.size = 0;
		add_string("{\"you\":"), add_number(number[tickets[i]]), add_string("}");
		mm_set(MM_TICKET_PROPERTIES, tickets[i], (mm_text){0}, taken());
	}
}

// fill sends tickets to running games, as many as each has room for.
static void fill(const mm_request *r, const double *number) {
	const double *room = mm_column(r, MM_BACKFILL_ATTRIBUTE, mm_string("free"));
	uint32_t next = 0;
	for (uint32_t game = 0; game < r->backfills; game++) {
		uint32_t tickets[4], count = 0;
		while (count < 4 && count + 1 <= room[game] && next < r->tickets) tickets[count++] = next++;
		if (!count) continue;
		made(r, number, tickets, count);
		add_string(",\"backfill\":\""), add(mm_value(r, MM_BACKFILL_CONNECTION, (mm_text){0}, game));
		add_string("\",\"version\":"), add_number(r->backfill_version[game]), add_string("}");
		propose(number, tickets, count, 0);
		mm_set(MM_BACKFILL_UPDATE, game, (mm_text){0}, (mm_text){0});
		mm_set_number(MM_BACKFILL_SET_ATTRIBUTE, "free", room[game] - count);
	}
}

const char *mm_match(const mm_request *r) {
	if (says(r->config, "\"how\"")) return misbehave(r);
	const double *number = mm_attribute(r, "number");
	if (says(r->config, "\"fills\":true")) {
		fill(r, number);
		return NULL;
	}
	int hosted = says(r->config, "\"hosted\":true");
	for (uint32_t i = 0; i + 1 < r->tickets; i += 2) {
		uint32_t pair[] = {i, i + 1};
		made(r, number, pair, 2);
		add_string("}");
		propose(number, pair, 2, hosted);
		if (!hosted) { // a place that no other match has
			text.size = 0;
			add_string("free-"), add_number(r->now), add_string("-"), add_number(number[i]), add_string("-"), add_number(number[i + 1]);
			mm_set(MM_CONNECTION, 0, (mm_text){0}, taken());
		}
	}
	return NULL;
}
