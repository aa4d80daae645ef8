// Package mistake has mistakes that the services can be built with, to see that chaos and simulation find them.
package mistake

import (
	"fmt"
	"strings"

	"matchmaker.dev/services/test/chaos/overlay"
)

// Mistake is one mistake.
type Mistake struct {
	Name string
	// Promise is the number of the promise that it breaks.
	Promise int
	Says    string
	// Alone: it breaks no other promise.
	Alone bool
	// Simulated: only the simulation finds it, where clocks are wrong.
	Simulated bool
	edits     []edit
}

type edit = overlay.Edit

const scripts = "services/internal/state/script/"

// All lists at least one mistake for each promise.
func All() []Mistake {
	return []Mistake{
		{
			Name: "early", Promise: 1,
			Says: "A ticket is answered 201 before it is stored.",
			edits: []edit{{"services/internal/state/create.go", "case result := <-one.done:",
				"case <-time.After(0):\n\t\tresult := answer{Created: Created{ID: one.id}}"}}},
		{
			Name: "state", Promise: 2,
			Says:  "A claim does not check that its tickets wait. It takes deleted, claimed and resolved ones.",
			edits: []edit{{scripts + "match_claim.lua", "~= WAITING then", "== 'never' then"}}},
		{
			Name: "epoch", Promise: 2,
			Says: "A director without the lease still claims. Leases end much too early, and every director wants all.",
			edits: []edit{
				{scripts + "match_claim.lua", "if redis.call('HGET', lease, 'epoch') ~= epoch then", "if false then"},
				{scripts + "director_lease.lua", "'expires', now + duration)", "'expires', now + 1)"},
				{"services/director/balance.go", "n := share(alive, s.Name, len(projects));",
					"n := max(len(projects), share(alive, s.Name, len(projects)));"},
			}},
		{
			Name: "partly", Promise: 3,
			Says: "A result is written only to the first ticket of a match.",
			edits: []edit{{scripts + "match_assign.lua", "if is_claimed(ticket, id) then",
				"if #assigned == 0 and is_claimed(ticket, id) then"}}},
		{
			Name: "left", Promise: 3,
			Says: "A match that a player left before its server was asked for goes on without that player.",
			edits: []edit{
				{scripts + "allocation_begin.lua", "= missing and not begun and dropped_event or event", "= event"},
				{scripts + "allocation_begin.lua", "if missing and not begun then", "if false then"},
			}},
		{
			Name: "revenant", Promise: 4,
			Says:  "A result is also written to deleted tickets.",
			edits: []edit{{scripts + "match_assign.lua", "if is_claimed(ticket, id) then", "if true then"}}},
		{
			Name: "forgotten", Promise: 5, Alone: true,
			Says: "A released ticket waits again, but no match function gets it.",
			edits: []edit{{scripts + "include/change.lua", "\n  show(changes, id, ticket, redis.call('HSTRLEN', ticket, BODY))",
				"\n  changes[#changes + 1], changes[#changes + 2] = '-' .. id, ''"}}},
		{
			Name: "overdue", Promise: 5, Alone: true,
			Says: "Claims and proposals that are over end 20 seconds late.",
			edits: []edit{
				{scripts + "match_release.lua", "tonumber(deadline) > now)", "deadline + 20000 > now)"},
				{"services/internal/state/proposal.go", "k.proposed(), millis(s.Now())-1,", "k.proposed(), millis(s.Now())-20000,"},
			}},
		{
			Name: "skipped", Promise: 5, Alone: true,
			Says: "Half of the time a leader does not run one of its configs.",
			edits: []edit{{"services/director/leader.go", "\t\tl.startRun(ctx, s, now)\n",
				"\t\tif s.config.GetId() != \"free\" || now.Unix()%120 >= 60 {\n\t\t\tl.startRun(ctx, s, now)\n\t\t}\n"}}},
		{
			Name: "clock", Promise: 5, Simulated: true,
			Says: "Times are judged by the clocks of hosts, of which some are wrong.",
			edits: []edit{{"services/internal/state/script.go", "return s.clock().UnixMicro()",
				"return s.measured.host().UnixMicro()"}}},
		{
			Name: "config", Promise: 6,
			Says: "Claims do not see that a config was deleted or replaced. Directors see it when they read the configs.",
			edits: []edit{
				{scripts + "match_claim.lua", "current[config] = redis.call('HGET', revisions, config)",
					"current[config] = revision"},
				{"services/config/service.go", "if err == nil && there {", "if err == nil && there && false {"},
			}},
		{
			Name: "leak", Promise: 7,
			Says:  "Servers that no ticket uses are not given back.",
			edits: []edit{{"services/allocator/deallocation.go", "return s.Provider.Release(ctx, ref)", "return nil"}}},
		{
			Name: "version", Promise: 8,
			Says:  "A proposal counts though its backfill ticket has changed since the function saw it.",
			edits: []edit{{scripts + "include/propose.lua", "return current == seen and not hidden", "return not hidden"}}},
		{
			Name: "double", Promise: 9,
			Says:  "A proposal is accepted though a ticket is in its match twice.",
			edits: []edit{{"pkg/matchfn/block/answerreader.go", "if seen[t] == mark {", "if false {"}}},
		{
			Name: "unasked", Promise: 10,
			Says:  "A match goes on when the first of its players has accepted.",
			edits: []edit{{scripts + "acceptance_answer.lua", "#changed) < tonumber(asked) then", "#changed) < 1 then"}}},
		{
			Name: "willing", Promise: 10,
			Says: "Who accepted ends with those who were silent.",
			edits: []edit{{scripts + "acceptance_end.lua", "elseif not answer and silent and is_known then",
				"elseif silent and is_known then"}}},
		{
			Name: "pardoned", Promise: 10, Alone: true,
			Says:  "Who declined waits again.",
			edits: []edit{{scripts + "acceptance_end.lua", "reason = 'declined'", "reason = nil"}}},
		{
			Name: "twofold", Promise: 11, Alone: true,
			Says: "A player may be in several parties.",
			edits: []edit{{scripts + "party_put.lua", "if redis.call('HEXISTS', party_players, ARGV[n]) == 1 then",
				"if false then"}}},
		{
			Name: "youngest", Promise: 11, Alone: true,
			Says: "The youngest member follows a leader.",
			edits: []edit{{"services/party/party.go", "p.GetMembers()[0].GetPlayer()",
				"p.GetMembers()[len(p.GetMembers())-1].GetPlayer()"}}},
		{
			Name: "straggler", Promise: 11,
			Says: "A search goes on when a member leaves.",
			edits: []edit{{"services/party/party.go", "!slices.Equal(before, playersOf(after)) {",
				"len(before) < len(playersOf(after)) {"}}},
		{
			Name: "unready", Promise: 11, Alone: true,
			Says:  "A search begins though a member is not ready.",
			edits: []edit{{"services/party/search.go", "if !m.GetReady() {", "if false {"}}},
	}
}

// Of is the mistake with a name.
func Of(name string) (m Mistake, err error) {
	var names []string
	for _, m := range All() {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return m, fmt.Errorf("there is no mistake %q, only %s", name, strings.Join(names, ", "))
}

// Edits are those of the files below root that make the mistake.
func (m Mistake) Edits(root string) overlay.Edits { return overlay.Edits{Root: root, Edits: m.edits} }

// Overlay writes the files with the mistake into a folder. It returns the file for the go command's flag -overlay,
// which replaces those below root.
func (m Mistake) Overlay(root, dir string) (string, error) {
	list, err := overlay.Write(dir, m.Edits(root))
	if err != nil {
		return "", fmt.Errorf("mistake %s: %w", m.Name, err)
	}
	return list, nil
}
