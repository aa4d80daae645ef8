package simulate

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
)

// image is all that a Redis has at a step.
type image struct {
	step int
	keys map[string]stored
	// at is the time of the image.
	at time.Time
	// prefix is the prefix of the keys of a project, and tickets and matches are the project's.
	prefix  string
	tickets map[string]*storedTicket
	matches map[string]*storedMatch
}

// stored is a key. Streams have pairs, sets have members without scores, and a string is the field "".
type stored struct {
	kind   string
	ends   time.Duration
	fields map[string]string
	stream [][]string
}

type storedTicket struct {
	state, by, asks, result string
	players                 []string
}

type storedMatch struct {
	*pb.Match // nil when its body is not kept
	state     string
}

// replyOf reads a reply as text or a list of replies.
func replyOf(in *bufio.Reader) any {
	line, _ := in.ReadString('\n')
	if line == "" {
		return nil
	}
	text := strings.TrimSpace(line[1:])
	n, _ := strconv.Atoi(text)
	switch {
	case line[0] == '*':
		list := make([]any, n)
		for i := range list {
			list[i] = replyOf(in)
		}
		return list
	case line[0] == '$' && n >= 0:
		value := make([]byte, n+2)
		for read := 0; read < len(value); {
			more, err := in.Read(value[read:])
			if err != nil {
				return nil
			}
			read += more
		}
		return string(value[:n])
	}
	return text
}

// ask carries a command out and returns its reply as texts.
func (m *memory) ask(command ...string) (texts []string) {
	s, _ := m.open()
	var flatten func(any)
	flatten = func(v any) {
		if list, is := v.([]any); is {
			for _, one := range list {
				flatten(one)
			}
			return
		}
		texts = append(texts, fmt.Sprint(v))
	}
	flatten(replyOf(bufio.NewReader(bytes.NewReader(exec(s, command)))))
	return texts
}

// image reads the keys of a project, without streams, or, to restore it, the whole Redis.
func (m *memory) image(project string, step int, whole bool) *image {
	i := &image{step: step, at: time.Now(), prefix: "mm:{" + project + "}:", keys: map[string]stored{},
		tickets: map[string]*storedTicket{}, matches: map[string]*storedMatch{}}
	for _, key := range m.ask("KEYS", "*") {
		if key == "" {
			continue
		}
		s := stored{kind: m.ask("TYPE", key)[0], fields: map[string]string{}}
		if !whole && (s.kind == "stream" || !strings.HasPrefix(key, i.prefix)) {
			continue
		}
		if ends, _ := strconv.Atoi(m.ask("PTTL", key)[0]); ends > 0 {
			s.ends = time.Duration(ends) * time.Millisecond
		}
		read := map[string][]string{"string": {"GET", key}, "hash": {"HGETALL", key}, "set": {"SMEMBERS", key},
			"zset": {"ZRANGE", key, "0", "-1", "WITHSCORES"}}[s.kind]
		switch s.kind {
		case "stream":
			session, _ := m.open()
			list, _ := replyOf(bufio.NewReader(bytes.NewReader(exec(session, []string{"XRANGE", key, "-", "+"})))).([]any)
			for _, one := range list {
				entry := one.([]any)
				pairs := []string{entry[0].(string)}
				for _, value := range entry[1].([]any) {
					pairs = append(pairs, value.(string))
				}
				s.stream = append(s.stream, pairs)
			}
		case "string":
			s.fields[""] = m.ask(read...)[0]
		case "set":
			for _, member := range m.ask(read...) {
				s.fields[member] = ""
			}
		default:
			for pair := range slices.Chunk(m.ask(read...), 2) {
				s.fields[pair[0]] = pair[1]
			}
		}
		i.keys[key] = s
		if name, is := strings.CutPrefix(key, i.prefix); is {
			i.read(name, s.fields)
		}
	}
	return i
}

// read reads what a key says of a ticket or a match.
func (i *image) read(name string, fields map[string]string) {
	if id, is := strings.CutPrefix(name, "t:"); is {
		t := &storedTicket{state: fields["s"], by: fields["m"], asks: fields["q"], players: []string{fields["o"]}}
		if fields["p"] != "" {
			t.players = strings.Split(fields["p"], "\n")
		}
		a := new(pb.Assignment)
		_ = proto.Unmarshal([]byte(fields["a"]), a)
		t.result = a.GetError()
		i.tickets[id] = t
	}
	if id, is := strings.CutPrefix(name, "m:"); is {
		m := &storedMatch{state: fields["s"]}
		if body := new(pb.Match); fields["b"] != "" && proto.Unmarshal([]byte(fields["b"]), body) == nil {
			m.Match = body
		}
		i.matches[id] = m
	}
}

// restore makes an image what Redis has.
func (m *memory) restore(i *image) {
	m.ask("FLUSHALL")
	for key, s := range i.keys {
		for _, entry := range s.stream {
			m.ask(append([]string{"XADD", key}, entry...)...)
		}
		for field, value := range s.fields {
			m.ask(map[string][]string{"string": {"SET", key, value}, "hash": {"HSET", key, field, value},
				"set": {"SADD", key, field}, "zset": {"ZADD", key, value, field}}[s.kind]...)
		}
		if s.ends > 0 {
			m.ask("PEXPIRE", key, strconv.FormatInt(s.ends.Milliseconds(), 10))
		}
	}
}

// hash is what a key of the project has, by field or member; nil when there is none.
func (i *image) hash(name string) map[string]string { return i.keys[i.prefix+name].fields }

// number is a field or a score; 0 when there is none.
func (i *image) number(name, field string) float64 {
	n, _ := strconv.ParseFloat(i.hash(name)[field], 64)
	return n
}

// ids are the ids of keys that begin so.
func (i *image) ids(kind string) (all []string) {
	for _, key := range slices.Sorted(maps.Keys(i.keys)) {
		if id, is := strings.CutPrefix(key, i.prefix+kind); is {
			all = append(all, id)
		}
	}
	return all
}

// in are the tickets in these states.
func (i *image) in(states ...string) (all []string) {
	for _, id := range slices.Sorted(maps.Keys(i.tickets)) {
		if slices.Contains(states, i.tickets[id].state) {
			all = append(all, id)
		}
	}
	return all
}

func (i *image) games() []string   { return i.ids("bf:") }
func (i *image) parties() []string { return i.ids("pa:") }

// mirror is what follows the feed of a walk.
type mirror struct {
	mu      sync.Mutex
	wake    chan struct{}
	tickets map[string]string
	games   map[string]string
	resets  int
	at      uint64
}

// Reset implements state.Sink.
func (m *mirror) Reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tickets, m.games = map[string]string{}, map[string]string{}
	m.resets++
}

// Apply implements state.Sink.
func (m *mirror) Apply(changes []state.Change, position uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at = position
	for _, c := range changes {
		of, id := m.tickets, c.Ticket
		if c.Backfill != "" {
			of, id = m.games, c.Backfill
		}
		if of[id] = c.Body; c.Body == "" {
			delete(of, id)
		}
	}
}

// compare tells how what the feed said differs from what Redis has, after readers had time to notice that it went back.
func (m *mirror) compare(w *walk) (text string) {
	for range 30 {
		select {
		case m.wake <- struct{}{}:
		default:
		}
		synctest.Wait()
		m.mu.Lock()
		text = m.difference(w.now)
		m.mu.Unlock()
		if text == "" {
			return ""
		}
		pause(w.ctx, 100*time.Millisecond)
	}
	return text
}

func (m *mirror) difference(i *image) string {
	wait, shown := map[string]string{}, map[string]string{}
	for _, id := range i.in("w") {
		wait[id] = i.hash("t:" + id)["b"]
	}
	for _, id := range i.games() {
		f := i.hash("bf:" + id)
		_, hidden := f["h"]
		_, allocating := f["m"]
		connection := f["a"]
		if connection == "" {
			connection = f["d"]
		}
		body := f["b"]
		if made, is := f["n"]; is {
			body = made
		}
		if !hidden && (connection != "" || allocating) {
			shown[id] = fmt.Sprint(f["v"], " ", f["g"], " ", f["c"], " ", len(connection), " ", connection, " ") + body +
				f["q"] + f["y"]
		}
	}
	for what, pair := range map[string][2]map[string]string{"ticket": {m.tickets, wait}, "game": {m.games, shown}} {
		for id := range pair[0] {
			if _, is := pair[1][id]; !is {
				return fmt.Sprintf("feed: it shows the %s %s, which Redis does not", what, id)
			}
		}
		for id, body := range pair[1] {
			if told, is := pair[0][id]; !is || told != body {
				return fmt.Sprintf("feed: it does not show the %s %s as Redis has it (shown: %v; at %d of %s, read %d times)", what,
					id, is, m.at, i.hash("feed_seq")[""], m.resets)
			}
		}
	}
	return ""
}

// truth is something that must be true of what Redis has of a project, whatever happened.
type truth struct {
	name  string
	check func(i *image, fail func(format string, args ...any))
}

var truths = []truth{
	{"tickets", (*image).ticketsHold}, {"results", (*image).resultsHold}, {"lists", (*image).listsHold},
	{"large", (*image).largeHolds}, {"matches", (*image).matchesHold}, {"credit", (*image).creditHolds},
	{"games", (*image).gamesHold}, {"parties", (*image).partiesHold}, {"configs", (*image).configsHold},
	{"played", (*image).playedHolds},
}

// broken tells what is not true that must be.
func (i *image) broken() (all []string) {
	for _, one := range truths {
		one.check(i, func(format string, args ...any) {
			all = append(all, one.name+": "+fmt.Sprintf(format, args...))
		})
	}
	return all
}

// truths tells what is not true of a walk that must be, besides.
func (w *walk) truths() []string {
	w.resultsStay()
	w.listsAreWhole()
	w.searchesAreOfMembers()
	w.endsAreRight()
	w.resultsCountOnce()
	broken := w.broken
	w.broken = nil
	return append(broken, w.now.broken()...)
}

// A match whose result is awaited, or there, is due at some time. A player plays one of these, without a result.
func (i *image) playedHolds(fail func(string, ...any)) {
	for _, id := range i.ids("r:") {
		if _, due := i.hash("awaited")[id]; !due || i.hash("r:" + id)["p"] == "" {
			fail("match %s is due %t, with the lineup %q", id, due, i.hash("r:" + id)["p"])
		}
	}
	for id := range i.hash("awaited") {
		if i.hash("r:"+id) == nil {
			fail("match %s is due, and not there", id)
		}
	}
	for player, id := range i.hash("running") {
		f := i.hash("r:" + id)
		if _, over := f["b"]; over || !slices.Contains(strings.FieldsFunc(f["p"],
			func(r rune) bool { return r == '\n' || r == '\f' }), player) {
			fail("player %s plays match %s: %q", player, id, f)
		}
	}
}

// resultsCountOnce: each player has as many matches as results that count for the player. No result of a walk is
// forgotten, and players that were taken out of one are left out.
// Promise 12.
func (w *walk) resultsCountOnce() {
	counted := map[string]int{}
	for _, id := range w.now.ids("r:") {
		r := new(pb.MatchResult)
		_ = proto.Unmarshal([]byte(w.now.hash("r:" + id)["b"]), r)
		for _, c := range r.GetChanges() {
			counted[c.GetPlayer()]++
		}
	}
	if w.resting {
		return // they are forgotten
	}
	for player, stored := range w.now.hash("ratings") {
		ratings, err := state.ParseRatings(stored)
		matches := 0
		for _, one := range ratings {
			matches += one.Matches
		}
		if !w.erased[player] && (err != nil || matches != counted[player]) {
			w.broken = append(w.broken, fmt.Sprintf("results: %d count for player %s, who has %q", counted[player], player,
				stored))
		}
	}
}

// Each ticket is where its state says, and nowhere else.
func (i *image) ticketsHold(fail func(string, ...any)) {
	for id, t := range i.tickets {
		score, waits := i.hash("waiting")[id]
		if waits != (t.state == "w") {
			fail("%s is in the state %s, and waits: %v", id, t.state, waits)
		}
		if created := i.hash("t:" + id)["c"]; waits && score != created {
			fail("%s waits since %s, and was created at %s", id, score, created)
		}
		m := i.matches[t.by]
		switch {
		case t.state == "w" && (t.by != "" || t.asks != ""):
			fail("%s waits, and is reserved by %q and asked by %q", id, t.by, t.asks)
		case t.state == "c" && (m == nil || !strings.Contains("oqnca", m.state)):
			fail("%s is claimed by the match %s, which is %v", id, t.by, m)
		case t.state == "c" && m.Match != nil && !slices.Contains(state.TicketsOf(m.GetProposal()), id):
			fail("%s is claimed by the match %s, which does not have it", id, t.by)
		case t.state == "c" && (t.asks != "") != strings.Contains("oqn", m.state):
			fail("%s is asked by %q, and its match is in the state %s", id, t.asks, m.state)
		case t.state == "r" && i.hash("t:" + id)["a"] == "":
			fail("%s has an empty result", id)
		}
	}
	for id := range i.hash("waiting") {
		if i.tickets[id] == nil {
			fail("%s waits, and is not there", id)
		}
	}
}

// Each result ends, and is counted.
func (i *image) resultsHold(fail func(string, ...any)) {
	ends, told := i.resultEnds()
	kept, counted, now := 0, 0, i.at.UnixMilli()
	for id, t := range i.tickets {
		if t.state != "r" {
			continue
		}
		end, is := ends[id]
		if !is {
			fail("%s has a result that never ends", id)
		} else if end > now {
			kept++
		}
		if _, isEnd := i.hash("t:" + id)["x"]; isEnd != told[id] {
			fail("%s has the result %q, which is told as an end: %v", id, t.result, told[id])
		}
	}
	for part, n := range i.hash("results") {
		if end, _ := strconv.ParseInt(part, 10, 64); end > now {
			more, _ := strconv.Atoi(n)
			counted += more
		}
	}
	if counted < kept {
		fail("%d tickets have results, and %d are counted", kept, counted)
	}
}

// A result stays until it ends, unless a player deletes it.
func (w *walk) resultsStay() {
	ends, _ := w.before.resultEnds()
	for id, t := range w.before.tickets {
		if t.state == "r" && w.now.tickets[id] == nil && ends[id] > w.now.at.UnixMilli() && !w.deletable[id] {
			w.fail("results: that of %s is gone, which nobody deleted", id)
		}
	}
}

// resultEnds is when each result ends, and whether it is a told end.
func (i *image) resultEnds() (ends map[string]int64, told map[string]bool) {
	ends, told = map[string]int64{}, map[string]bool{}
	for member := range i.hash("resolved") {
		ids, isTold := strings.CutPrefix(member, "- ")
		for _, id := range strings.Fields(ids) {
			ends[id], told[id] = int64(i.number("resolved", member)), isTold
		}
	}
	return ends, told
}

// created checks that a ticket could be created, and that a key has one ticket.
func (w *walk) created(c state.Creation, created state.Created) {
	if first := w.keys[c.Key]; c.Key != "" && first != "" && first != created.ID {
		w.fail("keys: %s created %s, and then %s", c.Key, first, created.ID)
	}
	w.keys[c.Key] = created.ID
	for _, player := range state.PlayersOf(c.Ticket) {
		for _, hash := range []string{"pauses:0", "pauses:1"} {
			var until int64
			_, _ = fmt.Sscan(w.now.hash(hash)[player], &until)
			left, pauses := until-time.Now().UnixMilli(), state.PausesOf(c.Settings)
			if pauses.Longest > 0 && created.ID == c.Ticket.Id && left > 0 {
				w.fail("pauses: %s created %s %d ms before its pause was over", player, created.ID, left)
			}
		}
	}
}

// What is listed of a player is its.
func (i *image) listsHold(fail func(string, ...any)) {
	for player, list := range i.hash("by_player") {
		for _, id := range strings.Fields(list) {
			if t := i.tickets[id]; t == nil {
				fail("%s is listed of %s, and is not there", id, player)
			} else if !slices.Contains(t.players, player) {
				fail("%s is listed of %s, who is none of its players", id, player)
			}
		}
	}
}

// All tickets of a player are listed, and are no more than the limit.
func (w *walk) listsAreWhole() {
	open := map[string]int64{}
	for id, t := range w.now.tickets {
		for _, player := range t.players {
			if t.state == "r" {
				continue
			}
			if open[player]++; w.most > 0 && open[player] > w.most {
				w.fail("lists: %s has %d tickets, and may have %d", player, open[player], w.most)
			}
			if !slices.Contains(strings.Fields(w.now.hash("by_player")[player]), id) {
				w.fail("lists: %s is not listed of %s", id, player)
			}
		}
	}
}

// What is large is counted, once and to its player.
func (i *image) largeHolds(fail func(string, ...any)) {
	total, players := 0.0, map[string]float64{}
	for name := range i.hash("large_sizes") {
		if name == "total" {
			continue
		}
		total += i.number("large_sizes", name)
		if match, is := strings.CutPrefix(name, "o:"); is {
			m := i.matches[match]
			if i.hash("o:"+match) == nil && (m == nil || !strings.Contains("oqnca", m.state)) {
				fail("the outcome of %s is counted, and is not there", match)
			}
		} else if i.tickets[name] == nil {
			fail("%s is counted, and is not there", name)
		}
	}
	if total != i.number("large_sizes", "total") {
		fail("%v bytes are counted, and the sum is %v", total, i.number("large_sizes", "total"))
	}
	for name, value := range i.hash("large_players") {
		if size, player, is := strings.Cut(value, " "); is {
			n, _ := strconv.ParseFloat(size, 64)
			players["p:"+player] += n
			if i.hash("large_sizes")[name] != size {
				fail("%s counts %s to its player and %s to all", name, size, i.hash("large_sizes")[name])
			}
		}
	}
	for name := range i.hash("large_players") {
		if sum := i.number("large_players", name); strings.HasPrefix(name, "p:") && sum != players[name] {
			fail("a player has %v bytes, and the sum is %v", players[name], sum)
		}
	}
	for id := range i.tickets {
		if f := i.hash("t:" + id); f["s"] != "r" && len(f["b"])+len(f["p"]) > 1024 && i.hash("large_sizes")[id] == "" {
			fail("%s is large, and is not counted", id)
		}
	}
}

// Each match is under way with a deadline, or is kept until a time, or its server is to be deallocated.
func (i *image) matchesHold(fail func(string, ...any)) {
	for id, m := range i.matches {
		f := i.hash("m:" + id)
		_, claimed := i.hash("claims")[id]
		if game, is := strings.CutPrefix(m.GetPlace(), state.PlaceGame); is && m.state == "c" {
			deadline, joins := i.hash("joins")[id]
			if _, listed := i.hash("bm:" + game)[id]; claimed || !joins || !listed && deadline != "0" {
				fail("%s goes to %s, which lists it: %v; its deadline is %q, and it has another: %v", id, game, listed,
					deadline, claimed)
			}
			claimed = joins
		}
		_, ended := i.hash("ended")[id]
		_, returns := i.hash("deallocations")[id]
		_, sent := i.hash("outbox")[id]
		open := m.state != "" && strings.Contains("oqnca", m.state)
		switch {
		case open != claimed:
			fail("%s is in the state %q, and has a deadline: %v", id, m.state, claimed)
		case open && m.Match == nil:
			fail("%s is under way without a body", id)
		case !open && !ended && !returns:
			fail("%s is in the state %q for good", id, m.state)
		case returns && m.Match == nil:
			fail("the server of %s is to be deallocated, and its body is gone", id)
		case sent && m.state != "c":
			fail("%s is in the outbox in the state %q", id, m.state)
		}
		if m.state != "o" && m.state != "q" {
			continue
		}
		yes, asked := 0, 0
		for field, answer := range f {
			if strings.HasPrefix(field, "p:") && answer == "1" {
				yes++
			}
		}
		for _, ticket := range state.TicketsOf(m.GetProposal()) {
			if t := i.tickets[ticket]; t == nil || t.by != id {
				fail("%s asks for a ticket %s that it does not have", id, ticket)
			} else {
				asked += len(t.players)
			}
		}
		if yes != int(i.number("m:"+id, "g")) || asked != int(i.number("m:"+id, "q")) || (yes == asked) != (m.state == "q") {
			fail("%s is in the state %s: %d of %d players accepted, and %v are counted of %v", id, m.state, yes, asked,
				i.number("m:"+id, "g"), i.number("m:"+id, "q"))
		}
	}
	for _, set := range []string{"claims", "joins", "ended", "deallocations", "outbox"} {
		for id := range i.hash(set) {
			if i.matches[id] == nil {
				fail("%s is among %s, and is not there", id, set)
			}
		}
	}
}

// Each target has as many open matches as are counted, and one that is closed may be tried again soon.
func (i *image) creditHolds(fail func(string, ...any)) {
	open, tried := map[string]float64{}, map[string]bool{}
	for id, m := range i.matches {
		target := i.hash("m:" + id)["t"]
		switch m.state {
		case "c", "a":
			open[target]++
		case "o", "q", "n":
			tried[target] = true
		}
	}
	delete(open, "")
	for field := range i.hash("hosting_windows") {
		if kind, name, _ := strings.Cut(field, ":"); kind == "o" && open[name] == 0 {
			open[name] = 0
		}
	}
	for name, n := range open {
		if counted := i.number("hosting_windows", "o:"+name); counted != n {
			fail("%v matches of the target %s are open, and %v are counted", n, name, counted)
		}
		window, known := i.hash("hosting_windows")["w:"+name]
		if wide, _ := strconv.Atoi(window); !known || wide >= 8 || n > 0 || tried[name] {
			continue
		}
		if due := i.number("hosting_windows", "d:"+name) - float64(i.at.UnixMilli()); due > 1000 {
			fail("the target %s is closed for %v ms, and no match of it is under way", name, due)
		}
	}
}

// Each game has the matches that go to it, and its size is counted.
func (i *image) gamesHold(fail func(string, ...any)) {
	total := 0.0
	for _, id := range i.games() {
		f, going := i.hash("bf:"+id), i.hash("bm:"+id)
		if _, is := i.hash("backfills")[id]; !is {
			fail("%s is not in the set", id)
		}
		if match, is := f["m"]; is && (i.matches[match] == nil || i.matches[match].GetBackfill() != id) {
			fail("%s gets its server from %s, which is %v", id, match, i.matches[match])
		}
		if match, is := strings.CutPrefix(f["h"], "a:"); is &&
			(i.matches[match] == nil || !strings.Contains("oqn", i.matches[match].state) || going[match] == "") {
			fail("%s is held by %s, which is %v", id, match, i.matches[match])
		}
		if _, is := f["n"]; is && len(going) == 0 {
			fail("%s has what functions made of it, and no match goes there", id)
		}
		size, all := 0, f["p"]
		for match, text := range going {
			count, players, _ := strings.Cut(text, " ")
			size, all = size+len(text), all+"\n"+players
			m := i.matches[match]
			if m == nil || m.GetPlace() != state.PlaceGame+id || !strings.Contains("oqnc", m.state) {
				fail("%s is to go to %s, and is %v", match, id, m)
				continue
			}
			tickets := state.TicketsOf(m.GetProposal())
			for _, ticket := range tickets {
				if t := i.tickets[ticket]; t != nil && t.by == match && !hasAll(players, t.players) {
					fail("%s goes to %s, and its players are not known there", ticket, id)
				}
			}
			if count != strconv.Itoa(len(tickets)) {
				fail("%s has %d tickets, and %s say %s", match, len(tickets), id, count)
			}
		}
		names := strings.FieldsFunc(all, func(r rune) bool { return r == '\n' })
		if slices.Sort(names); len(slices.Compact(names)) < len(names) {
			fail("a player is twice in %s", id)
		}
		for _, field := range []string{"b", "n", "a", "d", "y", "p", "j", "f"} {
			size += len(f[field])
		}
		if total += float64(size); float64(size) != i.number("backfill_sizes", id) {
			fail("%s has %d bytes, and %v are counted", id, size, i.number("backfill_sizes", id))
		}
	}
	if total != i.number("backfill_sizes", "total") || len(i.hash("backfills")) != len(i.games()) {
		fail("%d games with %v bytes are there, and %d with %v are counted", len(i.games()), total, len(i.hash("backfills")),
			i.number("backfill_sizes", "total"))
	}
	for _, id := range i.ids("bm:") {
		if i.hash("bf:"+id) == nil {
			fail("matches go to %s, which is not there", id)
		}
	}
	for _, id := range i.ids("bj:") {
		if i.hash("bf:"+id) == nil {
			fail("tickets joined %s, which is not there", id)
		}
	}
}

func hasAll(names string, some []string) bool {
	all := strings.Split(names, "\n")
	return !slices.ContainsFunc(some, func(name string) bool { return !slices.Contains(all, name) })
}

// Each player is in one party, and each code is one party's.
func (i *image) partiesHold(fail func(string, ...any)) {
	members, codes := map[string]string{}, map[string]string{}
	for _, id := range i.parties() {
		f, p := i.hash("pa:"+id), new(pb.Party)
		if err := proto.Unmarshal([]byte(f["b"]), p); err != nil {
			fail("%s: %v", id, err)
		}
		codes[p.Code] = id
		var players []string
		for _, m := range p.Members {
			members[m.Player], players = id, append(players, m.Player)
			if f["h:"+m.Player] == "" {
				fail("%s does not know when it heard of %s", id, m.Player)
			}
		}
		if _, is := i.hash("parties")[id]; !is || len(f) != 2+len(players) || f["v"] != fmt.Sprint(p.Revision) {
			fail("%s is in the set: %v, and has %d fields for %d members, and the revisions %s and %d", id, is, len(f),
				len(players), f["v"], p.Revision)
		}
	}
	if !maps.Equal(members, orEmpty(i.hash("party_players"))) || !maps.Equal(codes, orEmpty(i.hash("party_codes"))) ||
		len(i.hash("parties")) != len(i.parties()) {
		fail("members %v and codes %v, and known are %v and %v", members, codes, i.hash("party_players"),
			i.hash("party_codes"))
	}
}

// A search goes on for all members of its party.
func (w *walk) searchesAreOfMembers() {
	members := map[string][]string{}
	for _, id := range w.now.parties() {
		p := new(pb.Party)
		_ = proto.Unmarshal([]byte(w.now.hash("pa:" + id)["b"]), p) // partiesHold says it
		for _, m := range p.Members {
			ticket := p.GetSearch().GetTicket()
			members[ticket] = append(members[ticket], m.Player)
		}
	}
	for id, t := range w.now.tickets {
		if w.searches[id] == "" || t.state == "r" {
			continue
		}
		slices.Sort(members[id])
		if !slices.Equal(members[id], slices.Sorted(slices.Values(t.players))) {
			w.fail("parties: the search %s goes on for %v, and the party has %v", id, t.players, members[id])
		}
	}
}

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	return m
}

func (w *walk) fail(format string, args ...any) {
	w.broken = append(w.broken, fmt.Sprintf(format, args...))
}

// No player counts as silent that was heard, or could not be, and no ticket waits in vain whose queue is served.
func (w *walk) endsAreRight() {
	for id, t := range w.now.tickets {
		before := w.before.tickets[id]
		if t.state != "r" || before == nil || before.state == "r" {
			continue
		}
		for _, at := range w.asked[id] {
			if t.result == "unheard" && w.now.at.Sub(at) < walkSilence && w.before.at.Sub(at) > walkSilence/2 {
				w.fail("ends: %s ended as unheard, and was asked for %v ago", id, w.now.at.Sub(at))
			}
		}
		for _, queue := range strings.Fields(w.now.hash("t:" + id)["u"]) {
			if t.result == "unserved" && w.before.hash("queues")["q:"+queue] != "" && w.now.hash("queues")["q:"+queue] != "" {
				w.fail("ends: %s ended since no config serves %s, and one does", id, queue)
			}
		}
		if t.result == "silent" && w.excused[before.by] {
			w.fail("ends: %s ended as silent, and the Redis that asked it was replaced", id)
		}
		if t.result == "silent" && before.asks != "" {
			missing := 0
			for _, player := range t.players {
				if w.before.hash("m:" + before.by)["p:"+player] == "" {
					missing++
				}
			}
			if missing == 0 {
				w.fail("ends: %s ended as silent, and all its players had answered", id)
			}
		}
	}
}

// Configs, their names, their history and their queues agree; no module is removed that a function names.
func (i *image) configsHold(fail func(string, ...any)) {
	serves := map[string]int{}
	for id, revision := range i.hash("revisions") {
		if _, is := i.hash("configs")[id]; !is || !strings.HasPrefix(i.hash("config_names")[":"+id], revision+" ") {
			fail("%s has the revision %s, a body: %v, and counts %q", id, revision, is, i.hash("config_names")[":"+id])
		}
	}
	if len(i.hash("configs")) != len(i.hash("revisions")) ||
		len(i.hash("config_changes")) != len(i.hash("config_history")) {
		fail("there are %d configs and %d revisions, %d changes and %d of their bodies", len(i.hash("configs")),
			len(i.hash("revisions")), len(i.hash("config_changes")), len(i.hash("config_history")))
	}
	for field, queue := range i.hash("queues") {
		if config, is := strings.CutPrefix(field, "c:"); is {
			serves[queue]++
			if i.hash("configs")[config] == "" {
				fail("%s serves the queue %s, and is not there", config, queue)
			}
		}
	}
	for field, n := range i.hash("queues") {
		queue, is := strings.CutPrefix(field, "q:")
		if !is {
			continue
		}
		if _, noted := i.hash("unserved")[queue]; n != strconv.Itoa(serves[queue]) || noted {
			fail("%d configs serve %s, %s are counted; it is noted as unserved: %v", serves[queue], queue, n, noted)
		}
	}
	for name, body := range i.hash("functions") {
		f := new(pb.Function)
		_ = proto.Unmarshal([]byte(body), f)
		if i.hash("unused")[f.Module] == "0" { // a note of it that came late is no harm
			fail("the function %s names %s, which was taken to be removed", name, f.Module)
		}
	}
}
