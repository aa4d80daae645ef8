// probe does what the tests tell it, so that they see the whole of matchfn.h: a
// request whose ticket 0 has the property "script" says what to propose; any
// other is written to the log, number for number. vectors_test.go has the forms.
#include "matchfn.h"

const char mm_wants[] = "{}";

static mm_list line;

static void text(mm_text t) { mm_push(&line, t.data, t.size); }

static void bits(uint64_t v) {
	char digits[16];
	for (int i = 15; i >= 0; i--, v >>= 4) digits[i] = "0123456789abcdef"[v & 15];
	text((mm_text){" ", 1});
	text((mm_text){digits, 16});
}

static void number(double v) {
	uint64_t b;
	__builtin_memcpy(&b, &v, 8);
	if (v == v) bits(b);
	else text(mm_string(" -"));
}

static void value(mm_text v) {
	text(mm_string(v.data ? " ." : " -"));
	for (uint32_t i = 0; i < v.size; i++) {
		text((mm_text){&"0123456789abcdef"[(unsigned char)v.data[i] >> 4], 1});
		text((mm_text){&"0123456789abcdef"[v.data[i] & 15], 1});
	}
}

static void begin(const char *what) {
	line.size = 0;
	text(mm_string(what));
}

static void named(const char *what, mm_text name) {
	begin(what);
	text((mm_text){" ", 1});
	text(name);
}

static void end(void) { mm_log((mm_text){line.data, line.size}); }

static void integer(const char *what, uint64_t v) { begin(what), bits(v), end(); }

static void numbers(const double *values, uint32_t n) {
	for (uint32_t i = 0; i < n; i++) number(values[i]);
	end();
}

static void values(const mm_request *r, uint32_t kind, mm_text name, uint32_t n) {
	for (uint32_t i = 0; i < n; i++) value(mm_value(r, kind, name, i));
	end();
}

static void pool(mm_pool p) {
	for (uint32_t i = 0; i < p.count; i++) bits(p.tickets[i]);
	end();
}

static void columns(const mm_request *r, const char *attribute, const char *property, uint32_t first, uint32_t n) {
	const mm_section *s = NULL;
	while ((s = mm_next(r, first, s))) named(attribute, mm_name(r, s)), numbers(mm_column(r, first, mm_name(r, s)), n);
	named(attribute, mm_string("nobody's")), numbers(mm_column(r, first, mm_string("nobody's")), n);
	while ((s = mm_next(r, first + 1, s))) named(property, mm_name(r, s)), values(r, first + 1, mm_name(r, s), n);
	named(property, mm_string("nobody's")), values(r, first + 1, mm_string("nobody's"), n);
}

static void pools(const mm_request *r, const char *of, uint32_t kind) {
	for (const mm_section *s = NULL; (s = mm_next(r, kind, s));) named(of, mm_name(r, s)), pool(mm_numbers(r, kind, mm_name(r, s)));
	named(of, mm_string("nobody's")), pool(mm_numbers(r, kind, mm_string("nobody's")));
}

static void describe(const mm_request *r) {
	integer("now", r->now);
	integer("seed", r->seed);
	integer("budget", r->budget);
	begin("config "), text(r->config), end();
	begin("left out"), bits(r->left_out_attributes), bits(r->left_out_properties), end();
	integer("tickets", r->tickets);
	begin("created"), numbers(r->created, r->tickets);
	begin("wait"), numbers(r->wait, r->tickets);
	columns(r, "attribute", "property", MM_ATTRIBUTE, r->tickets);
	pools(r, "pool", MM_POOL);
	for (const mm_section *s = NULL; (s = mm_next(r, MM_ATTRIBUTE, s));) {
		named("order", mm_name(r, s));
		pool((mm_pool){mm_sort_by(mm_column(r, MM_ATTRIBUTE, mm_name(r, s)), r->tickets), r->tickets});
	}
	integer("backfills", r->backfills);
	begin("backfill created"), numbers(r->backfill_created, r->backfills);
	begin("backfill version");
	for (uint32_t i = 0; i < r->backfills; i++) bits(r->backfill_version[i]);
	end();
	begin("backfill connection"), values(r, MM_BACKFILL_CONNECTION, (mm_text){0}, r->backfills);
	columns(r, "backfill attribute", "backfill property", MM_BACKFILL_ATTRIBUTE, r->backfills);
	pools(r, "backfill pool", MM_BACKFILL_POOL);
	begin("player starts");
	for (uint32_t i = 0; i <= r->tickets; i++) bits(mm_first_player(r, i));
	end();
	begin("player handles");
	for (uint32_t i = 0; r->player_handles && i < r->players; i++) bits(r->player_handles[i]);
	end();
	begin("player ids"), values(r, MM_PLAYER_ID, (mm_text){0}, r->players);
	columns(r, "player attribute", "player property", MM_PLAYER_ATTRIBUTE, r->players);
	named("player pool", mm_string("nobody's")), end(); // there are none
	begin("backfill player starts");
	for (uint32_t i = 0; i <= r->backfills; i++) bits(mm_first_backfill_player(r, i));
	end();
	begin("backfill player handles");
	for (uint32_t i = 0; r->backfill_player_handles && i < r->backfill_players; i++) bits(r->backfill_player_handles[i]);
	end();
	begin("backfill player ids"), values(r, MM_BACKFILL_PLAYER_ID, (mm_text){0}, r->backfill_players);
	begin("backfill player teams"), values(r, MM_BACKFILL_PLAYER_TEAM, (mm_text){0}, r->backfill_players);
	begin("backfill player roles"), values(r, MM_BACKFILL_PLAYER_ROLE, (mm_text){0}, r->backfill_players);
	for (const mm_section *s = NULL; (s = mm_next(r, MM_BACKFILL_PLAYER_ATTRIBUTE, s));) {
		named("backfill player attribute", mm_name(r, s));
		numbers(mm_column(r, MM_BACKFILL_PLAYER_ATTRIBUTE, mm_name(r, s)), r->backfill_players);
	}
	named("backfill player attribute", mm_string("nobody's"));
	numbers(mm_column(r, MM_BACKFILL_PLAYER_ATTRIBUTE, mm_string("nobody's")), r->backfill_players);
	begin("barred"), pool(r->barred);
	begin("asked"), pool(r->asked);
}

enum { PROPOSE = 32, TEAM, FAIL, CRASH, EXPLAIN };

static const char *play(const mm_request *r, mm_text script) {
	for (uint32_t at = 0; at < script.size;) {
		const uint32_t *head = (const uint32_t *)(script.data + at); // what, subject, length of the name, of the value
		mm_text name = {script.data + at + 16, head[2]}, v = {name.data + ((head[2] + 7) & ~7u), head[3]};
		at += 16 + ((head[2] + 7) & ~7u) + ((head[3] + 7) & ~7u);
		switch (head[0]) {
		case PROPOSE: mm_propose(*(const double *)v.data); break;
		case TEAM: mm_team((const uint32_t *)v.data, v.size / 4); break;
		case FAIL: {
			char *why = mm_take(v.size + 1);
			__builtin_memcpy(why, v.data, v.size);
			why[v.size] = 0;
			return why;
		}
		case CRASH: __builtin_trap();
		case EXPLAIN: mm_explain(r, head[1], name, *(const int64_t *)v.data); break;
		default: mm_set(head[0], head[1], name, v);
		}
	}
	return NULL;
}

const char *mm_match(const mm_request *r) {
	line = (mm_list){0};
	mm_text script = mm_property(r, "script", 0);
	if (script.data) return play(r, script);
	describe(r);
	return NULL;
}
