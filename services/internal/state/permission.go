package state

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"matchmaker.dev/services/internal/account"
	"matchmaker.dev/services/internal/catalog"
)

// rights are what an account needs of Redis.
type rights struct {
	// scripts are those that the account runs. Which commands they call follows from their texts.
	scripts []*script
	// calls are the commands besides.
	calls string
	// reads are keys that are read, adds keys that are written without a script.
	reads, adds []string
	// writes are keys that scripts write and never read, changes those that they do both with, and consults those that
	// they only read.
	writes, changes, consults []string
}

// every is the pattern of a project's keys, whichever the project is.
const every = keys("mm:{*}:")

// anyID stands for the id in a key.
const anyID = "*"

// What the parts of a project's state are, as their keys.
func feedKeys() []string    { return []string{every.feed()} }
func historyKeys() []string { return []string{every.history()} }
func counters() []string    { return []string{every.feedSeq(), every.historySeq()} }

func limits() []string { return []string{every.rates(), every.players(anyID)} }

func tickets() []string {
	return []string{every.ticket(anyID), every.waiting(), every.resolved()}
}

func matchKeys() []string {
	return []string{every.match(anyID), every.claims(), every.outbox(), every.ended()}
}

func fillings() []string {
	return []string{every.backfill(anyID), every.proposals(anyID), every.joined(anyID), every.backfills(),
		every.proposed()}
}

// permissions are the rights of each account. Who reads this to learn what a service may do reads all there is.
func permissions() map[string]rights {
	tell := slices.Concat(feedKeys(), historyKeys())
	return map[string]rights{
		catalog.Ticket: {
			scripts: []*script{ticketCreateScript, ticketDeleteScript},
			calls:   "hmget",
			writes:  tell,
			changes: slices.Concat(counters(), limits(), []string{every.ticket(anyID), every.waiting()}),
		},
		catalog.Config: {
			scripts: []*script{configPutScript, configDeleteScript, rateAllowScript},
			calls:   "sadd hget hgetall multi exec",
			adds:    []string{global.projects()},
			changes: []string{every.configs(), every.revisions(), every.revision(), every.configNames(), every.rates()},
		},
		catalog.Registry: {
			scripts: []*script{functionPutScript, rateAllowScript},
			calls:   "sadd smembers hget hgetall",
			reads:   []string{global.projects()},
			adds:    []string{global.projects()},
			changes: []string{every.functions(), every.rates()},
		},
		catalog.Runner: {
			calls: "smembers hgetall hmget zscan xread mget set info",
			reads: slices.Concat([]string{global.projects(), every.functions(), every.ticket(anyID), every.waiting(),
				every.backfill(anyID), every.backfills()},
				feedKeys(), []string{every.feedName(), every.feedSeq()}),
			adds: []string{every.feedName()},
		},
		catalog.Director: {
			scripts: []*script{
				directorHeartbeatScript, directorLeaseScript, matchClaimScript, matchClaimBackfillScript, matchReleaseScript,
				proposalCreateScript, proposalExpireScript, backfillDeleteScript,
				expireWaitingScript, expireResultsScript, expireMatchesScript,
			},
			calls:  "smembers get set hget hgetall hmget zcard zcount zrange zrem xrange xtrim multi exec",
			reads:  []string{global.projects(), every.configs(), every.published()},
			adds:   []string{every.published()},
			writes: feedKeys(),
			changes: slices.Concat(counters(), historyKeys(), tickets(), matchKeys(), fillings(), []string{every.deallocations(),
				every.lease(), global.directors()}),
			// Scripts see whether a config is still the one that was matched by.
			consults: []string{every.revisions()},
		},
		catalog.Allocator: {
			scripts: []*script{allocationBeginScript, allocationLeaseScript, matchAssignScript, matchReleaseScript,
				matchServerScript, deallocationClaimScript, deallocationFinishScript},
			calls:   "smembers hget zrange",
			reads:   []string{global.projects()},
			writes:  tell,
			changes: slices.Concat(counters(), tickets(), matchKeys(), fillings(), []string{every.deallocations()}),
		},
		catalog.Backfill: {
			scripts: []*script{backfillCreateScript, backfillReplaceScript, proposalApproveScript, backfillDeleteScript,
				ticketAssignScript, rateAllowScript},
			calls:   "sadd hget hmget mget info",
			reads:   []string{every.functions(), every.feedName()},
			adds:    []string{global.projects()},
			writes:  tell,
			changes: slices.Concat(counters(), tickets(), fillings(), []string{every.rates()}),
		},
	}
}

// What a connection needs before anything is asked of it, of one server and of a cluster.
const connecting = "ping select readonly cluster|slots cluster|shards command"

// called finds the commands that a script calls.
var called = regexp.MustCompile(`redis\.p?call\(\s*['"]([A-Za-z]+)['"]`)

// ACLRules is what an account may do, as Redis's ACL has it, without name and password; "" for one that has nothing to
// do with Redis. Keys are those below mm:, %R~ before those that are only read, and %W~ before those that are only
// written. What is in parentheses is a second set of rights: scripts may be given these keys, and what they then do
// with them is up to the first set.
func ACLRules(name string) string {
	switch name {
	case account.Operator:
		return "~* &* +@all"
	case account.All:
		return rulesOf(slices.Collect(maps.Values(permissions()))...)
	}
	if r, ok := permissions()[name]; ok {
		return rulesOf(r)
	}
	return ""
}

func rulesOf(all ...rights) string {
	commands, read, written, given := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, r := range all {
		for _, command := range strings.Fields(connecting + " " + r.calls) {
			commands[command] = true
		}
		for _, s := range r.scripts {
			for _, match := range called.FindAllStringSubmatch(s.source, -1) {
				commands[strings.ToLower(match[1])] = true
			}
		}
		for _, key := range slices.Concat(r.reads, r.changes, r.consults) {
			read[key] = true
		}
		for _, key := range slices.Concat(r.adds, r.writes, r.changes) {
			written[key] = true
		}
		// To run a script, Redis wants to see every right on all keys that it is given.
		for _, key := range slices.Concat(r.writes, r.changes, r.consults) {
			given[key] = true
		}
	}
	var rules []string
	for _, command := range slices.Sorted(maps.Keys(commands)) {
		rules = append(rules, "+"+command)
	}
	touched := maps.Clone(read)
	maps.Copy(touched, written)
	for _, key := range slices.Sorted(maps.Keys(touched)) {
		right := "~"
		switch {
		case !written[key]:
			right = "%R~"
		case !read[key]:
			right = "%W~"
		}
		rules = append(rules, right+key)
	}
	if len(given) > 0 {
		second := []string{"+eval", "+evalsha"}
		for _, key := range slices.Sorted(maps.Keys(given)) {
			second = append(second, "~"+key)
		}
		rules = append(rules, "("+strings.Join(second, " ")+")")
	}
	return strings.Join(rules, " ")
}

// ACLFile is an ACL file for Redis: the user of each account that is named, with the hash of its password, and nobody
// else. Where a hash is missing Redis refuses the file, with a line that says whose it is.
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
