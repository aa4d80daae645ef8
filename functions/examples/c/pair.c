// pair matches neighbours in skill. The allowed difference grows by a point for each second that both have waited.
#include "matchfn.h"

const char mm_wants[] = "{\"attributes\":[\"skill\"],\"properties\":[]}";

const char *mm_match(const mm_request *r) {
	const double *skill = mm_attribute(r, "skill"), *wait = r->wait;
	const uint32_t *order = mm_sort_by(skill, r->tickets);
	for (uint32_t i = 0; i + 1 < r->tickets; i++) {
		uint32_t a = order[i], b = order[i + 1];
		double gap = skill[b] - skill[a], waited = wait[a] < wait[b] ? wait[a] : wait[b];
		if (gap <= 25 + waited) {
			mm_propose(-gap);
			mm_team((uint32_t[]){a, b}, 2);
			i++; // both are matched
		}
	}
	return NULL;
}
