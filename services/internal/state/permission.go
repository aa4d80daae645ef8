package state

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"matchmaker.dev/services/internal/platform/account"
	"matchmaker.dev/services/internal/platform/catalog"
)

// rights are the permissions of an account in Redis. Each is a list with spaces between. Keys are patterns: of all
// projects, or with "mm:" before of no project.
type rights struct {
	// scripts are the scripts that the account runs. The commands that they call are read from their text.
	scripts string
	// calls are the commands that the account calls without a script.
	calls string
	// reads and adds are the keys that the account reads and writes without a script. own are keys for which it also has
	// ownCalls, which would overwrite other keys.
	reads, adds, own string
	// raises: the account writes the schema.
	raises bool
	// writes are the keys that scripts only write, consults the keys that they only read, and changes the keys that they
	// read and write.
	writes, changes, consults string
}

// every makes patterns for the keys of all projects.
const every = keys("mm:{*}:")

// ownCalls are the commands that an account calls for keys of its own.
const ownCalls = "+set +get +pttl +pexpire"

// The keys of each part of a project's state.
const (
	events    = "feed history "
	counters  = "feed_seq history_seq stream_bytes "
	buckets   = "rates players:* "
	larges    = "large_sizes large_players "
	results   = "t:* waiting resolved results o:* outcomes " + larges
	matches   = "m:* claims outbox ended hosting_windows served deallocations "
	awaiting  = "r:* awaited running "
	played    = awaiting + "ratings rated boards board:* steps "
	fillings  = "bf:* bm:* bj:* backfills backfill_sizes joins "
	searching = "mm:projects t:* waiting resolved results " + larges + "pa:* by_player keys:* m:* claims pauses:* " +
		"last_seen "
)

// permissions are the rights of each account. Services have no other rights in Redis.
func permissions() map[string]rights {
	return map[string]rights{
		catalog.Ticket: {
			scripts: "project_add ticket_create ticket_delete acceptance_answer ticket_hear expire_unheard rate_allow " +
				"rate_charge result_put result_forget standing_put",
			calls: "mget hget hmget hkeys hgetall hexists smembers exists zrange zrevrange zrevrank zcount zcard zscore",
			// Configs say why a ticket waits.
			reads:  "o:* report* configs revisions feed_name joins ended deallocations",
			writes: events,
			// Scripts check whether the settings have changed since the ticket was decided, and which queues are served.
			consults: "settings queues",
			// Matches and claims have the answers of players to a match.
			changes: counters + buckets + searching + "idle_sweeps " + played,
		},
		catalog.Config: {
			scripts: "project_add config_put config_delete config_reseal settings_put webhook_note event_append rate_allow " +
				"rate_charge",
			calls:  "hget hgetall hmget zrange smembers exists hdel xrevrange",
			reads:  "functions",
			own:    "sim:*",
			writes: "history",
			changes: "mm:projects configs revisions revision config_names config_changes config_history settings webhooks " +
				"queues audit unserved rates history_seq stream_bytes",
		},
		catalog.Registry: {
			scripts: "project_add function_put module_note module_take rate_allow rate_charge",
			calls:   "smembers hget hgetall hmget zrange zrem",
			// Configs name uploads, which are kept for them. Reports say how the matches of a canary are.
			reads:   "configs revisions report*",
			changes: "mm:projects functions unused rates history_seq stream_bytes",
			writes:  "history audit",
		},
		catalog.Runner: {
			// It names a feed that has no name, and changes none.
			calls: "smembers hgetall hmget zscan xread mget setnx",
			reads: "mm:projects functions t:* waiting large_sizes bf:* backfills backfill_sizes feed feed_name feed_seq",
			adds:  "feed_name",
		},
		catalog.Director: {
			raises: true,
			scripts: "director_heartbeat director_lease match_claim match_release acceptance_end match_assign backfill_delete " +
				"expire_waiting expire_unserved expire_results expire_matches history_published expire_outcomes feed_trim " +
				"project_list report_put config_forget result_sweep ratings_expire due_cap",
			calls: "smembers scan zscan zremrangebyscore get mget hget hgetall hmget hstrlen zadd zcard zcount zrange zrem " +
				"zrandmember xrange hrandfield exists",
			// It looks for projects by the keys that exist.
			reads:  "configs functions unused settings",
			writes: "feed",
			changes: counters + "history " + results + matches + fillings + played + "by_player lease published report* " +
				"pauses:* unserved config_changes config_history audit mm:projects mm:directors",
			// Scripts check whether the config has changed since the match was made, and which queues are served.
			consults: "revisions queues",
		},
		catalog.Allocator: {
			scripts: "allocation_begin allocation_lease match_assign match_release match_server hosting_refuse " +
				"deallocation_claim deallocation_finish audit_append",
			calls:   "smembers hget hmget zrange",
			reads:   "mm:projects",
			writes:  events,
			changes: counters + results + matches + fillings + awaiting + " audit",
		},
		catalog.Party: {
			scripts: "project_add party_put party_hear party_sweep party_silent ticket_create ticket_delete ticket_hear " +
				"ticket_forget rate_allow result_forget standing_forget audit_append",
			// It looks for what is stored of a player in all keys.
			calls:    "smembers hget hmget hgetall hkeys hvals exists scan pttl hdel zrem zrange zscore zrevrank",
			reads:    "o:* bf:* bm:* webhooks",
			adds:     "webhooks",
			writes:   events,
			changes:  counters + buckets + searching + "parties party_players party_codes party_sweeps audit " + played,
			consults: "settings queues",
		},
		catalog.Backfill: {
			scripts: "project_add backfill_create backfill_replace backfill_approve backfill_delete match_assign " +
				"match_release ticket_assign rate_allow rate_charge",
			calls:  "hget hmget hstrlen hlen mget zrange zrevrank zscore zcount",
			reads:  "functions feed_name",
			writes: events,
			// An approval ends matches.
			changes: counters + results + matches + fillings + awaiting + "mm:projects rates",
		},
	}
}

// patternsOf returns the patterns of lists of keys.
func patternsOf(lists ...string) (patterns []string) {
	for _, name := range strings.Fields(strings.Join(lists, " ")) {
		if !strings.HasPrefix(name, string(global)) {
			name = string(every) + name
		}
		patterns = append(patterns, name)
	}
	return patterns
}

// connecting has the commands that the client calls when it connects to a server or to a cluster, and to read the time
// and the free memory.
const connecting = "ping time info select readonly cluster|slots cluster|shards command"

// redisCall finds the commands that a script calls.
var redisCall = regexp.MustCompile(`redis\.p?call\(\s*['"]([A-Za-z]+)['"]`)

// ACLRules returns what an account may do as rules of a Redis ACL, without name and password. It is "" for an account
// that does not use Redis. %R~ precedes keys that are only read, %W~ keys that are only written. In parentheses are
// more sets of rights: for CheckSchema, for keys of the account's own, and for keys that scripts may declare. The first
// set limits what scripts do with these keys.
func ACLRules(name string) string {
	switch name {
	case account.Operator:
		return "~* &* +@all"
	case account.Replica: // as Redis's documentation of replication has it
		return "+psync +replconf +ping"
	case account.Sentinel: // as its documentation of Sentinel has it
		return "&__sentinel__:hello +multi +slaveof +ping +exec +subscribe +config|rewrite +role +publish +info " +
			"+client|setname +client|kill +script|kill"
	case account.All:
		return rulesOf(slices.Collect(maps.Values(permissions()))...)
	}
	if r, ok := permissions()[name]; ok {
		return rulesOf(r)
	}
	return ""
}

func rulesOf(all ...rights) string {
	var commands, reads, writes, scriptKeys, own []string
	schema := "+get"
	for _, r := range all {
		if r.raises {
			schema = "+get +set"
		}
		for _, key := range patternsOf(r.own) {
			own = append(own, "~"+key)
		}
		commands = append(commands, strings.Fields(connecting+" "+r.calls)...)
		for _, name := range strings.Fields(r.scripts) {
			for _, match := range redisCall.FindAllStringSubmatch(scripts()[name]().source, -1) {
				commands = append(commands, strings.ToLower(match[1]))
			}
		}
		reads = append(reads, patternsOf(r.reads, r.changes, r.consults)...)
		writes = append(writes, patternsOf(r.adds, r.writes, r.changes)...)
		// Redis runs a script only if the user has all rights on the keys that the call names.
		scriptKeys = append(scriptKeys, patternsOf(r.writes, r.changes, r.consults)...)
	}
	var rules []string
	for _, command := range distinct(commands) {
		rules = append(rules, "+"+command)
	}
	for _, key := range distinct(slices.Concat(reads, writes)) {
		right := "~"
		switch {
		case !slices.Contains(writes, key):
			right = "%R~"
		case !slices.Contains(reads, key):
			right = "%W~"
		}
		rules = append(rules, right+key)
	}
	rules = append(rules, "("+schema+" ~"+global.schema()+")")
	if len(own) > 0 {
		rules = append(rules, "("+ownCalls+" "+strings.Join(own, " ")+")")
	}
	if len(scriptKeys) > 0 {
		second := []string{"+eval", "+evalsha"}
		for _, key := range distinct(scriptKeys) {
			second = append(second, "~"+key)
		}
		rules = append(rules, "("+strings.Join(second, " ")+")")
	}
	return strings.Join(rules, " ")
}

// distinct returns names sorted, and each once.
func distinct(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// ACLFile returns an ACL file for Redis. It has a user for each of the accounts, with the hash of its password, and no
// others. When a hash is missing, Redis refuses the file with a message that names the user.
func ACLFile(accounts []string, hash func(account string) string) string {
	var b strings.Builder
	b.WriteString("user default reset off\n")
	for _, name := range accounts {
		if rules := ACLRules(name); rules != "" {
			fmt.Fprintf(&b, "user %s reset on #%s %s\n", account.User(name), hash(name), rules)
		}
	}
	return b.String()
}
