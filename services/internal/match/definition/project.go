package definition

import pb "matchmaker.dev/proto/matchmaker/v1"

// What happens when a player has as many tickets as the project allows.
const (
	Refuse  = "refuse"  // the new one is refused; so it is when the settings say nothing
	Replace = "replace" // the oldest ends
)

// What else becomes of a new ticket of a player whose match has no result yet, besides Refuse.
const (
	Allow = "allow" // it is created; so it is when the settings say nothing
	Tell  = "tell"  // it is created, and the answer names the match
)

// maxPerPlayer is the most that tickets.perPlayer.limit may be: scripts look at all of them.
const maxPerPlayer = 16

// The bounds of tickets.silence, in seconds. A stream asks every 10 s, and a request is noted four times in this time.
const (
	shortestSilence = 20
	longestSilence  = 5 * 60
)

// ProjectSettings reads the settings of a project.
func (r *Reader) ProjectSettings() *pb.ProjectSettings {
	p, ratings, standing := new(pb.ProjectSettings), Path(""), Path("")
	r.Object("",
		Member{"tickets", func(at Path) { p.Tickets = r.ticketRules(at) }},
		Member{"acceptance", func(at Path) { p.Acceptance = r.acceptanceRules(at) }},
		Member{"attributes", func(at Path) { p.Attributes = r.attributeRules(at) }},
		Member{"properties", func(at Path) { p.Properties = r.propertyRules(at) }},
		Member{"webhooks", func(at Path) { p.Webhooks = r.webhooks(at) }},
		Member{"ratings", func(at Path) { ratings, p.Ratings = at, r.ratingRules(at) }},
		Member{"standing", func(at Path) { standing, p.Standing = at, r.standingRules(at) }},
		Member{"support", func(at Path) {
			r.Object(at, Member{"properties", func(at Path) { p.SupportProperties, _ = r.Bool(at) }})
		}},
	)
	r.addRatingSetters(ratings, p)
	r.addStandingSetters(standing, p)
	return p
}

// longestPause is the longest pause after missed matches, in seconds.
const longestPause = 24 * 60 * 60

func (r *Reader) acceptanceRules(at Path) *pb.AcceptanceRules {
	rules := new(pb.AcceptanceRules)
	seconds := func(to *int64) func(Path) {
		return func(at Path) { *to = r.millis(at, BadPause, 1, longestPause) }
	}
	r.Object(at,
		Member{"pause", func(at Path) {
			given, ok := r.Object(at,
				Member{"seconds", seconds(&rules.FirstPause)},
				Member{"maxSeconds", seconds(&rules.LongestPause)},
				Member{"leavers", func(at Path) { rules.Leavers, _ = r.Bool(at) }},
			)
			for _, name := range []string{"seconds", "maxSeconds"} {
				if ok && !given[name] {
					r.Add(BadPause, at.Member(name), "required: how long a player that missed a match pauses, the first time "+
						"(seconds) and at most (maxSeconds)")
				}
			}
			if given["seconds"] && given["maxSeconds"] && rules.LongestPause < rules.FirstPause {
				r.Add(BadPause, at.Member("maxSeconds"), "must not be less than seconds")
			}
		}},
	)
	return rules
}

func (r *Reader) ticketRules(at Path) *pb.TicketRules {
	rules := new(pb.TicketRules)
	r.Object(at,
		Member{"perPlayer", func(at Path) {
			given, ok := r.Object(at,
				Member{"limit", func(at Path) {
					n, ok := r.Integer(at)
					if ok && (n < 1 || n > maxPerPlayer) {
						r.Add(BadTicketRule, at, "1 to %d are allowed; leave perPlayer out for any number", maxPerPlayer)
					}
					rules.PlayerLimit = n
				}},
				Member{"whenReached", func(at Path) { rules.WhenReached = r.oneOf(at, BadTicketRule, Refuse, Replace) }},
			)
			if ok && !given["limit"] {
				r.Add(BadTicketRule, at.Member("limit"), "required: how many tickets a player may have")
			}
		}},
		Member{"listed", func(at Path) { rules.Listed, _ = r.Bool(at) }},
		Member{"endsTold", func(at Path) { rules.EndsTold, _ = r.Bool(at) }},
		Member{"refuseUnserved", func(at Path) { rules.RefuseUnserved, _ = r.Bool(at) }},
		Member{"running", func(at Path) { rules.Running = r.oneOf(at, BadTicketRule, Allow, Tell, Refuse) }},
		Member{"silence", func(at Path) {
			rules.Silence = r.seconds(at, BadTicketRule, shortestSilence, longestSilence, "a ticket waits without a request")
		}},
	)
	return rules
}
