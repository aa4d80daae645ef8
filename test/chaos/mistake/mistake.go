// Package mistake has mistakes that the services can be built with, to see that chaos and simulation find them.
//
// A mistake is a comment where it is made, "// mistake NAME: CODE" in Go and "-- mistake NAME: CODE" in a script. A
// build with the mistakes makes code of the comments, which runs when the environment variable MISTAKE has the name,
// alone or between commas.
package mistake

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"matchmaker.dev/services/test/chaos/overlay"
)

// Variable is the environment variable that names the mistakes to make.
const Variable = "MISTAKE"

// Mistake is one mistake.
type Mistake struct {
	Name string
	// Promise is the number of the promise that it breaks.
	Promise int
	Says    string
	// Alone: it breaks no other promise.
	Alone bool
	// Simulated: only the simulation finds it.
	Simulated bool
	// Truth is what is found broken instead of a promise: by the worlds if it is Simulated, else by the walk over the
	// scripts.
	Truth string
}

// All lists at least one mistake for each promise.
func All() []Mistake {
	return []Mistake{
		{Name: "early", Promise: 1, Says: "A ticket is answered 201 before it is stored."},
		{Name: "state", Promise: 2,
			Says: "A claim does not check that its tickets wait. It takes deleted, claimed and resolved ones."},
		{Name: "epoch", Promise: 2,
			Says: "A director without the lease still claims. Leases end much too early, and every director wants all."},
		{Name: "partly", Promise: 3, Says: "A result is written only to the first ticket of a match."},
		{Name: "left", Promise: 3,
			Says: "A match that a player left before its server was asked for goes on without that player."},
		{Name: "revenant", Promise: 4, Says: "A result is also written to deleted tickets."},
		{Name: "forgotten", Promise: 5, Alone: true,
			Says: "A released ticket waits again, but no match function gets it."},
		{Name: "overdue", Promise: 5, Alone: true, Says: "Claims and proposals that are over end 20 seconds late."},
		{Name: "skipped", Promise: 5, Alone: true,
			Says: "Half of the time a leader does not run one of its configs."},
		{Name: "clock", Promise: 1, Simulated: true,
			Says: "Times are judged by the clocks of hosts, of which some are wrong."},
		{Name: "config", Promise: 6,
			Says: "Claims do not see that a config was deleted or replaced. Directors see it when they read the configs."},
		{Name: "leak", Promise: 7, Says: "Servers that no ticket uses are not given back."},
		{Name: "version", Promise: 8,
			Says: "A proposal counts though its backfill ticket has changed since the function saw it."},
		{Name: "double", Promise: 9, Says: "A proposal is accepted though a ticket is in its match twice."},
		{Name: "unasked", Promise: 10, Says: "A match goes on when the first of its players has accepted."},
		{Name: "willing", Promise: 10, Says: "Players who accepted end with those who were silent."},
		{Name: "pardoned", Promise: 10, Alone: true, Says: "Players who declined wait again."},
		{Name: "twofold", Promise: 11, Alone: true, Says: "A player may be in several parties."},
		{Name: "youngest", Promise: 11, Alone: true, Says: "The youngest member follows a leader."},
		{Name: "straggler", Promise: 11, Says: "A search goes on when a member leaves."},
		{Name: "unready", Promise: 11, Alone: true, Says: "A search begins though a member is not ready."},
		{Name: "stale", Promise: 6, Simulated: true, Says: "A runner goes on with the first upload that it has."},
		{Name: "mislabel", Promise: 6, Simulated: true, Says: "A match names another upload than that which made it."},
		{Name: "backward", Promise: 6, Simulated: true, Says: "What goes back is the number of the upload, not its module."},
		{Name: "outlived", Promise: 6, Simulated: true, Says: "A canary goes on when its time is over."},
		{Name: "seat", Promise: 3, Simulated: true, Says: "All seat passes of a ticket are for its owner."},
		{Name: "unreverted", Truth: "return", Simulated: true, Says: "An upload that fails does not go back by itself."},
		{Name: "remnant", Truth: "removal", Simulated: true, Says: "Something of a deleted project remains."},
		{Name: "recount", Promise: 12, Alone: true, Says: "A result that is sent again counts again."},

		{Name: "unreturned", Truth: "credit",
			Says: "The credit of an assigned match with a backfill ticket is not returned."},
		{Name: "undropped", Truth: "credit", Says: "The credit of a dropped match with a backfill ticket is not returned."},
		{Name: "unopened", Truth: "credit", Says: "A retry that is declined does not reopen its target."},
		{Name: "firstend", Truth: "results", Says: "Of several told ends of one script only the first expires."},
		{Name: "resultless", Truth: "results", Says: "Who leaves a party, or ends its search, deletes its result."},
		{Name: "unheard", Truth: "ends", Says: "Who asked for a ticket is forgotten if the state could not be told."},
		{Name: "impatient", Truth: "ends", Says: "Tickets end for silence that another Redis heard of."},
		{Name: "served", Truth: "ends", Says: "Tickets end though their queue is served."},
		{Name: "loose", Truth: "parties", Says: "Members change, and the party's search goes on."},
		{Name: "rewound", Truth: "feed", Says: "A feed that went back is not noticed."},
		{Name: "keyless", Truth: "keys", Says: "A create that is repeated with its key creates another ticket."},
		{Name: "pauseless", Truth: "pauses", Says: "Players who declined create tickets at once."},
		{Name: "unlimited", Truth: "lists", Says: "Players have more tickets than they may."},
		{Name: "seatless", Truth: "games", Says: "A player who is in a game joins it again."},
		{Name: "heavy", Truth: "large", Says: "Large tickets count after they are deleted."},
		{Name: "queueless", Truth: "configs", Says: "A queue counts as served after its config was deleted."},
	}
}

// Of are the mistakes with names.
func Of(names ...string) (some []Mistake, err error) {
	var known []string
	for _, m := range All() {
		known = append(known, m.Name)
		if slices.Contains(names, m.Name) {
			some = append(some, m)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("there is no mistake %q, only %s", name, strings.Join(known, ", "))
		}
	}
	return some, nil
}

// inGo finds mistakes in Go. The code of "*" is carried out whatever the name is.
var inGo = regexp.MustCompile(`(?m)^\t+// mistake ([a-z]+|\*): (.*)$`)

// support is a file of each package with mistakes.
const support = `package %s

import (
	"os"
	"slices"
	"strings"
)

var mistakes = strings.Split(os.Getenv("` + Variable + `"), ",")

func planted(mistake string) bool { return slices.Contains(mistakes, mistake) }

func plant(script []byte) []byte {
	text := string(script)
	for _, mistake := range mistakes {
		text = strings.ReplaceAll(text, "-- mistake "+mistake+": ", "")
	}
	return []byte(text)
}
`

var inPackage = regexp.MustCompile(`(?m)^package (\w+)$`)

// Edits are the files below the repository's root to replace, so that all mistakes are planted.
func Edits(root string) (overlay.Edits, error) {
	edits, packages := overlay.Edits{Root: root}, map[string]bool{}
	err := each(root, ".go", func(name, text string) {
		for _, found := range inGo.FindAllStringSubmatch(text, -1) {
			code := found[2]
			if found[1] != "*" {
				code = fmt.Sprintf("if planted(%q) { %s }", found[1], code)
			}
			edits.Edits = append(edits.Edits, overlay.Edit{name, found[0], code})
			if dir := filepath.Dir(name); !packages[dir] {
				packages[dir] = true
				edits.Edits = append(edits.Edits, overlay.Edit{filepath.Join(dir, "planted.go"), "",
					fmt.Sprintf(support, inPackage.FindStringSubmatch(text)[1])})
			}
		}
	})
	return edits, err
}

// each visits the files of a kind that can have mistakes, by their names below the root.
func each(root, kind string, visit func(name, text string)) error {
	for _, folder := range []string{"services", "pkg/matchfn"} {
		err := fs.WalkDir(os.DirFS(root), folder, func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case filepath.Ext(name) != kind:
				return nil
			}
			text, err := os.ReadFile(filepath.Join(root, name))
			visit(name, string(text))
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
