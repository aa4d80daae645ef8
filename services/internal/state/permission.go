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

// rights are the permissions of an account in Redis.
type rights struct {
	// scripts are the scripts that the account runs. The commands that they call are read from their text.
	scripts []lazyScript
	// calls are the commands that the account calls without a script.
	calls string
	// reads and adds are the keys that the account reads and writes without a script. own are keys for which it also has
	// ownCalls, which would overwrite other keys.
	reads, adds, own []string
	// raises: the account writes the schema.
	raises bool
	// writes are the keys that scripts only write, consults the keys that they only read, and changes the keys that they
	// read and write.
	writes, changes, consults []string
}

// every makes patterns for the keys of all projects.
const every = keys("mm:{*}:")

// ownCalls are the commands that an account calls for keys of its own.
const ownCalls = "+set +get +pttl +pexpire"

// anyID stands for the id in a key.
const anyID = "*"

// The keys of each part of a project's state.
func feedKeys() []string    { return []string{every.feed()} }
func historyKeys() []string { return []string{every.history()} }
func counters() []string    { return []string{every.feedSeq(), every.historySeq(), every.streams()} }

func limits() []string { return []string{every.rates(), every.players(anyID)} }

func tickets() []string {
	return []string{every.ticket(anyID), every.waiting(), every.resolved(), every.results(), every.outcome(anyID),
		every.outcomes()}
}

func matchKeys() []string {
	return []string{every.match(anyID), every.claims(), every.outbox(), every.ended(), every.credit(), every.served()}
}

func awaiting() []string { return []string{every.result(anyID), every.awaited(), every.running()} }

func played() []string {
	return append(awaiting(), every.ratings(), every.rated(), every.boards(), every.board(anyID), every.steps())
}

func fillings() []string {
	return []string{every.backfill(anyID), every.joining(anyID), every.joined(anyID), every.backfills(),
		every.backfillSizes(), every.joins()}
}

// permissions are the rights of each account. Services have no other rights in Redis.
func permissions() map[string]rights {
	events := slices.Concat(feedKeys(), historyKeys())
	return map[string]rights{
		catalog.Ticket: {
			scripts: []lazyScript{projectAddScript, ticketCreateScript, ticketDeleteScript, acceptanceAnswerScript,
				ticketHearScript, expireUnheardScript, rateAllowScript, rateChargeScript, resultPutScript, resultForgetScript,
				standingPutScript},
			calls: "get mget hget hmget hkeys hgetall hexists smembers exists zrange zrevrange zrevrank zcount zcard zscore",
			// Configs say why a ticket waits.
			reads: []string{every.outcome(anyID), every.waits(), every.report(anyID), every.configs(), every.revisions(),
				every.feedName(), every.joins(), every.ended(), every.deallocations()},
			writes: events,
			// Scripts check whether the settings have changed since the ticket was decided, and which queues are served.
			consults: []string{every.settings(), every.queues()},
			// Matches and claims have the answers of players to a match.
			changes: slices.Concat(counters(), limits(), []string{global.projects(), every.ticket(anyID), every.waiting(),
				every.resolved(), every.large(), every.largePlayers(), every.results(), every.party(anyID), every.byPlayer(),
				every.idempotency(anyID),
				every.match(anyID), every.claims(), every.pauses(anyID), every.signs(), every.signSweeps()}, played()),
		},
		catalog.Config: {
			scripts: []lazyScript{projectAddScript, configPutScript, configDeleteScript, configResealScript,
				settingsPutScript, webhookNoteScript, eventAppendScript, rateAllowScript, rateChargeScript},
			calls:  "hget hgetall hmget zrange smembers exists hdel xrevrange" + before,
			reads:  []string{every.functions()},
			own:    []string{every.simulation(anyID)},
			writes: historyKeys(),
			changes: []string{global.projects(), every.configs(), every.revisions(), every.revision(), every.configNames(),
				every.configChanges(), every.configHistory(), every.settings(), every.webhooks(), every.queues(),
				every.audit(), every.unserved(), every.rates(), every.historySeq(), every.streams()},
		},
		catalog.Registry: {
			scripts: []lazyScript{projectAddScript, functionPutScript, moduleNoteScript, moduleTakeScript, rateAllowScript,
				rateChargeScript},
			calls: "smembers hget hgetall hmget zrange zrem",
			// Configs name uploads, which are kept for them. Reports say how the matches of a canary are.
			reads: []string{every.configs(), every.revisions(), every.report(anyID)},
			changes: []string{global.projects(), every.functions(), every.unused(), every.rates(), every.historySeq(),
				every.streams()},
			writes: append(historyKeys(), every.audit()),
		},
		catalog.Runner: {
			// It names a feed that has no name, and changes none.
			calls: "smembers hgetall hmget zscan xread mget setnx",
			reads: slices.Concat([]string{global.projects(), every.functions(), every.ticket(anyID), every.waiting(),
				every.large(), every.backfill(anyID), every.backfills(), every.backfillSizes()},
				feedKeys(), []string{every.feedName(), every.feedSeq()}),
			adds: []string{every.feedName()},
		},
		catalog.Director: {
			raises: true,
			scripts: []lazyScript{
				directorHeartbeatScript, directorLeaseScript, matchClaimScript, matchReleaseScript,
				acceptanceEndScript, matchAssignScript,
				backfillDeleteScript,
				expireWaitingScript, expireUnservedScript, expireResultsScript, expireMatchesScript,
				historyPublishedScript,
				expireOutcomesScript, feedTrimScript, projectListScript, waitsPutScript, reportPutScript,
				configForgetScript, resultSweepScript, ratingsExpireScript,
			},
			calls: "smembers scan zscan zremrangebyscore get mget hget hgetall hmget hstrlen zadd zcard zcount zrange zrem " +
				"zrandmember xrange hrandfield exists" + before,
			// It looks for projects by the keys that exist.
			reads:  []string{every.configs(), every.functions(), every.unused(), every.settings()},
			writes: feedKeys(),
			changes: slices.Concat(counters(), historyKeys(), tickets(), matchKeys(), fillings(), played(), []string{
				every.deallocations(),
				every.large(), every.largePlayers(), every.byPlayer(), every.lease(), every.published(), every.waits(),
				every.report(anyID), every.pauses(anyID),
				every.unserved(), every.configChanges(), every.configHistory(), every.audit(), global.projects(),
				global.directors()}),
			// Scripts check whether the config has changed since the match was made, and which queues are served.
			consults: []string{every.revisions(), every.queues()},
		},
		catalog.Allocator: {
			scripts: []lazyScript{allocationBeginScript, allocationLeaseScript,
				matchAssignScript, matchReleaseScript, matchServerScript,
				hostingRefuseScript, deallocationClaimScript, deallocationFinishScript},
			calls:  "smembers hget hmget zrange",
			reads:  []string{global.projects()},
			writes: events,
			changes: slices.Concat(counters(), tickets(), matchKeys(), fillings(), awaiting(), []string{
				every.deallocations(), every.large(), every.largePlayers()}),
		},
		catalog.Party: {
			scripts: []lazyScript{projectAddScript, partyPutScript, partyHearScript, partySweepScript, partySilentScript,
				ticketCreateScript, ticketDeleteScript, ticketHearScript, ticketForgetScript, rateAllowScript, resultForgetScript,
				standingForgetScript, auditAppendScript},
			// It looks for what is stored of a player in all keys.
			calls:  "smembers hget hmget hgetall hkeys hvals exists scan pttl hdel zrem zrange zscore zrevrank",
			reads:  []string{every.outcome(anyID), every.backfill(anyID), every.joining(anyID), every.webhooks()},
			adds:   []string{every.webhooks()},
			writes: events,
			changes: slices.Concat(counters(), limits(), []string{global.projects(), every.ticket(anyID), every.waiting(),
				every.resolved(), every.large(), every.largePlayers(), every.results(), every.party(anyID), every.parties(),
				every.partyPlayers(),
				every.partyCodes(), every.partySweeps(), every.byPlayer(), every.idempotency(anyID), every.match(anyID),
				every.claims(), every.pauses(anyID), every.signs(), every.audit()}, played()),
			consults: []string{every.settings(), every.queues()},
		},
		catalog.Backfill: {
			scripts: []lazyScript{projectAddScript, backfillCreateScript, backfillReplaceScript, backfillApproveScript,
				backfillDeleteScript, matchAssignScript, matchReleaseScript, ticketAssignScript, rateAllowScript, rateChargeScript},
			calls:  "hget hmget hstrlen hlen mget zrange zrevrank zscore zcount",
			reads:  []string{every.functions(), every.feedName()},
			writes: events,
			// An approval ends matches.
			changes: slices.Concat(counters(), tickets(), matchKeys(), fillings(), awaiting(), []string{global.projects(),
				every.large(),
				every.largePlayers(), every.deallocations(), every.rates()}),
		},
	}
}

// before has the commands that only the previous version calls: both run side by side in an upgrade, and the servers
// get the rights of the newer one.
const before = " multi exec"

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
	commands, reads, writes, scriptKeys := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	schema, own := "+get", []string(nil)
	for _, r := range all {
		if r.raises {
			schema = "+get +set"
		}
		for _, key := range r.own {
			own = append(own, "~"+key)
		}
		for _, command := range strings.Fields(connecting + " " + r.calls) {
			commands[command] = true
		}
		for _, s := range r.scripts {
			for _, match := range redisCall.FindAllStringSubmatch(s().source, -1) {
				commands[strings.ToLower(match[1])] = true
			}
		}
		for _, key := range slices.Concat(r.reads, r.changes, r.consults) {
			reads[key] = true
		}
		for _, key := range slices.Concat(r.adds, r.writes, r.changes) {
			writes[key] = true
		}
		// Redis runs a script only if the user has all rights on the keys that the call names.
		for _, key := range slices.Concat(r.writes, r.changes, r.consults) {
			scriptKeys[key] = true
		}
	}
	var rules []string
	for _, command := range slices.Sorted(maps.Keys(commands)) {
		rules = append(rules, "+"+command)
	}
	keySet := maps.Clone(reads)
	maps.Copy(keySet, writes)
	for _, key := range slices.Sorted(maps.Keys(keySet)) {
		right := "~"
		switch {
		case !writes[key]:
			right = "%R~"
		case !reads[key]:
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
		for _, key := range slices.Sorted(maps.Keys(scriptKeys)) {
			second = append(second, "~"+key)
		}
		rules = append(rules, "("+strings.Join(second, " ")+")")
	}
	return strings.Join(rules, " ")
}

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
