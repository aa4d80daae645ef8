package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// mistake is a mistake that the services can be built with, to see that the checker finds it.
type mistake struct {
	name string
	// promise is the number of the promise that it breaks.
	promise int
	says    string
	edits   []edit
}

// edit replaces a text that is in a file once.
type edit struct{ file, right, wrong string }

const scripts = "services/internal/state/script/"

// mistakes lists at least one mistake for each promise.
func mistakes() []mistake {
	return []mistake{
		{"early", 1, "A ticket is answered 201 before it is stored.",
			[]edit{{"services/internal/state/create.go", "case err := <-one.done:\n\t\treturn err",
				"case <-time.After(0):\n\t\treturn nil"}}},
		{"state", 2, "A claim does not check that its tickets wait. It takes deleted, claimed and resolved ones.",
			[]edit{{scripts + "match_claim.lua", "~= WAITING then", "== 'never' then"}}},
		{"epoch", 2, "A director without the lease still claims. Leases end much too early, and every director wants all.",
			[]edit{
				{scripts + "match_claim.lua", "if redis.call('HGET', lease, 'epoch') ~= epoch then", "if false then"},
				{scripts + "director_lease.lua", "'expires', now + duration)", "'expires', now + 1)"},
				{"services/director/balance.go", "n := share(alive, s.Name, len(projects));",
					"n := max(len(projects), share(alive, s.Name, len(projects)));"},
			}},
		{"partly", 3, "A result is written only to the first ticket of a match.",
			[]edit{{scripts + "match_assign.lua", "if is_claimed(ticket) then",
				"if #ids == 0 and is_claimed(ticket) then"}}},
		{"left", 3, "A match that a player left before its server was asked for goes on without that player.",
			[]edit{{scripts + "allocation_begin.lua", "if state == CLAIMED and #ids < count then", "if false then"}}},
		{"revenant", 4, "A result is also written to deleted tickets.",
			[]edit{{scripts + "match_assign.lua", "if is_claimed(ticket) then", "if true then"}}},
		{"forgotten", 5, "A released ticket waits again, but no match function gets it.",
			[]edit{{scripts + "include/change.lua", "changes[#changes + 1] = '+' .. id",
				"changes[#changes + 1] = '-' .. id"}}},
		{"config", 6, "Claims do not see that a config was deleted. Only the director sees it, when it reads the configs.",
			[]edit{
				{scripts + "config_delete.lua", "redis.call('HDEL', revisions, id)", ""},
				{"services/config/service.go", "if err == nil && there {", "if err == nil && there && false {"},
			}},
		{"leak", 7, "Servers that no ticket uses are not given back.",
			[]edit{{"services/allocator/manager/manager.go", `path: "/allocations/" + r.Allocation(), id:`,
				`path: "/allocations/none", id:`}}},
		{"version", 8, "A proposal counts though its backfill ticket has changed since the function saw it.",
			[]edit{{scripts + "proposal_create.lua", "if current ~= generation or hidden then", "if hidden then"}}},
		{"double", 9, "A proposal is accepted though a ticket is in its match twice.",
			[]edit{{"pkg/matchfn/block/answerreader.go", "if seen[t] == mark {", "if false {"}}},
	}
}

// mistakeOf is the mistake with a name.
func mistakeOf(name string) (m mistake, err error) {
	var names []string
	for _, m := range mistakes() {
		if m.name == name {
			return m, nil
		}
		names = append(names, m.name)
	}
	return m, fmt.Errorf("there is no mistake %q, only %s", name, strings.Join(names, ", "))
}

// overlay writes the files with the mistake into a folder. It returns the file for the go command's flag -overlay,
// which replaces those below root.
func (m mistake) overlay(root, dir string) (string, error) {
	replaced := map[string]string{}
	for n, e := range m.edits {
		file := filepath.Join(root, e.file)
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		if n := bytes.Count(text, []byte(e.right)); n != 1 {
			return "", fmt.Errorf("mistake %s: %s has the text %d times, not once: %s", m.name, e.file, n, e.right)
		}
		replaced[file] = filepath.Join(dir, fmt.Sprintf("mistake-%d%s", n, filepath.Ext(e.file)))
		text = bytes.Replace(text, []byte(e.right), []byte(e.wrong), 1)
		if err := os.WriteFile(replaced[file], text, 0o600); err != nil { //nolint:gosec // the folder is the run's own
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, list, 0o600)
}
