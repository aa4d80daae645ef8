package function

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"matchmaker.dev/functions/internal/search"
	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/rules"
)

// kinds are the kinds of values, as rule sets name the values of players.
var kinds = map[rules.Kind]string{
	rules.Number: "number", rules.String: "text", rules.Set: "list of texts", rules.Map: "object of numbers",
}

// explain says why tickets are in no match.
func explain(r *matchfn.Run, reasons []search.Reason) {
	for _, reason := range reasons {
		text, candidates := reason.Name, reason.Candidates
		switch reason.Kind {
		case search.RuleStops:
			if reason.Match != nil {
				text += ": without it there is a match"
			} else if reason.Join != nil {
				text += ": without it the ticket joins a running game"
			}
		case search.ValueMissing:
			text, candidates = "a player has no "+reason.Name, -1
		case search.OtherKind:
			text, candidates = "what a player has as "+reason.Name+" is no "+kinds[reason.Of], -1
		case search.Unreadable:
			text, candidates = "what the ticket says of its players cannot be read", -1
		case search.TooMuch:
			text, candidates = "a set or a map of a player has more than "+strconv.Itoa(search.MaxElements)+" elements", -1
		case search.NoneAlone:
			text = "no rule alone keeps it from a match"
		case search.Waits:
			text = "patience: there is a match, and a nearer one is expected within " +
				strconv.Itoa(max(1, int(math.Ceil(reason.Soon)))) + " s"
		case search.WorkEnded:
			text = "there is a match, but the work of the run ended before"
			if reason.Join != nil {
				text = "a running game takes the ticket, but the work of the run ended before"
			}
		case search.Widens:
			text += ": once it is as wide as it gets with the time, there is a match"
			if reason.Join != nil {
				text = reason.Name + ": once it is as wide as it gets with the time, the ticket joins a running game"
			}
		case search.TooLarge:
			text = "no " + reason.Name + " takes " + strconv.Itoa(reason.Players) + " players of one ticket"
		case search.TooFew:
			text = tooFew(reason)
		case search.RoleLacks:
			var lacks []string
			for _, role := range reason.Roles[:min(len(reason.Roles), mostRoles)] {
				lacks = append(lacks,
					fmt.Sprintf("the role %s: a match needs %d, and there are %d", role.Name, role.Needs, role.Takers))
			}
			text = "too few take " + strings.Join(lacks, "; ")
		case search.Undecided:
			text = "no match was found, and the work of the run ended before it was known why"
		}
		if reason.Looked > 0 {
			text += fmt.Sprintf(" (candidates of %d others)", reason.Looked)
		}
		r.Explain(reason.Ticket, text, candidates)
	}
}

// mostRoles is how many roles a reason names.
const mostRoles = 8

// tooFew says how many more players are needed, and of which roles. Each role takes a player of its own.
func tooFew(reason search.Reason) string {
	var roles []string
	ofRoles := 0
	for i, role := range reason.Roles {
		n := role.Needs - role.Takers
		if ofRoles += n; i < mostRoles {
			roles = append(roles, strconv.Itoa(n)+" of the role "+role.Name)
		}
	}
	text := "1 more player is needed for a match"
	if n := max(reason.Players, ofRoles); n != 1 {
		text = strconv.Itoa(n) + " more players are needed for a match"
	}
	if len(roles) > 0 {
		text += ": " + strings.Join(roles, ", ")
	}
	return text
}
