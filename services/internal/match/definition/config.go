package definition

import (
	"slices"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/match/pool"
)

// Lengths in bytes.
const (
	longestTitle   = 256  // of a config's name, which people read
	longestHosting = 1024 // the keys of cloud providers have some tens of characters, signed ones some hundreds
)

// What a config may say under hosting.OnAllocationError, of tickets whose match gets no server.
const (
	Fail    = "Fail"    // they get the error; so it is when the config says nothing
	Requeue = "Requeue" // they wait again
)

// HostingKeys are the keys of a config's hosting as they were sent.
type HostingKeys struct {
	Access, Secret string
	// SecretGiven tells a secret that is empty from one that was not sent.
	SecretGiven bool
}

// Config reads a whole config but for its id, which is not in the document. The keys of its hosting come beside it:
// they are not stored in clear. They are nil when there is no hosting.
func (r *Reader) Config() (*pb.Config, *HostingKeys) {
	c := new(pb.Config)
	var keys *HostingKeys
	given, ok := r.Object("",
		Member{"matchmaking", func(at Path) { r.matchmaking(at, c) }},
		Member{"pools", func(at Path) { c.Pools, c.PoolsSet = r.Pools(at), true }},
		Member{"queue", func(at Path) { c.Queue = r.Queue(at) }},
		Member{"acceptance", func(at Path) {
			c.Acceptance = r.seconds(at, BadAcceptance, 1, LongestAcceptance, "the players of a match may accept it")
		}},
		Member{"seats", func(at Path) { c.Seats, _ = r.Bool(at) }},
		Member{"result", func(at Path) {
			c.ResultTime = r.seconds(at, BadResult, 1, longestResult, "the result of a match may take")
		}},
		Member{"report", func(at Path) { c.Report = r.report(at) }},
		Member{"hosting", func(at Path) { c.Hosting, keys = r.hosting(at) }},
	)
	if ok && !given["matchmaking"] {
		r.Add(MissingMatchmaking, "matchmaking", "required, an object that names the function to run")
	}
	return c, keys
}

// Queue reads the name of a queue. Without one, and with an empty one, there is none.
func (r *Reader) Queue(at Path) string {
	name, ok := r.Text(at)
	if !ok || name == "" {
		return ""
	}
	if reason := fields.QueueProblem(name); reason != "" {
		r.Add(BadQueue, at, "%s", reason)
	}
	return name
}

// QueuesOf are the queues in which a ticket waits, "" for none.
func QueuesOf(t *pb.Ticket) []string {
	if len(t.GetQueues()) == 0 {
		return []string{""}
	}
	return t.GetQueues()
}

// LongestAcceptance is for how many seconds players may accept a match at most.
const LongestAcceptance = 120

// longestResult is for how many seconds a match may have no result at most.
const longestResult = 24 * 60 * 60

// seconds reads an object with a time in seconds, and returns milliseconds. what says what it is the time of.
func (r *Reader) seconds(at Path, code string, shortest, longest int64, what string) (millis int64) {
	given, ok := r.Object(at, Member{"seconds", func(at Path) { millis = r.millis(at, code, shortest, longest) }})
	if ok && !given["seconds"] {
		r.Add(code, at.Member("seconds"), "required, for how long %s", what)
	}
	return millis
}

// millis reads a number of seconds, and returns milliseconds.
func (r *Reader) millis(at Path, code string, shortest, longest int64) int64 {
	n, ok := r.Integer(at)
	if ok && (n < shortest || n > longest) {
		r.Add(code, at, "a whole number from %d to %d is expected", shortest, longest)
	}
	return n * 1000
}

// mostReported is how many attributes a report has at most.
const mostReported = 8

// report reads what is told of how good the matches of a config are.
func (r *Reader) report(at Path) *pb.Report {
	asked := new(pb.Report)
	r.Object(at, Member{"attributes", func(at Path) {
		n := r.Array(at, func(at Path) {
			if name := r.reported(at, asked.GetAttributes()); len(asked.GetAttributes()) < mostReported {
				asked.Attributes = append(asked.Attributes, name)
			}
		})
		if n > mostReported {
			r.Add(BadReport, at, "%d attributes, at most %d are allowed", n, mostReported)
		}
	}})
	return asked
}

// reported reads the name of an attribute of a report.
func (r *Reader) reported(at Path, before []string) string {
	name, ok := r.Text(at)
	switch {
	case !ok:
	case name == "":
		r.Add(BadReport, at, "the name of an attribute is empty")
	case len(name) > r.limits.Name:
		r.Add(BadReport, at, "%d bytes, at most %d are allowed", len(name), r.limits.Name)
	case name == pool.Created:
		r.Add(BadReport, at, "%s is when tickets were created: how long they wait is told anyway", quote(name))
	case slices.Contains(before, name):
		r.Add(BadReport, at, "%s is given twice", quote(name))
	}
	return name
}

func (r *Reader) matchmaking(at Path, c *pb.Config) {
	given, ok := r.Object(at,
		Member{"name", func(at Path) { c.Name = r.PlainText(at, BadName, longestTitle) }},
		Member{"targetFunction", func(at Path) {
			f := r.Function(at)
			c.Function, c.FunctionVersion, c.Upload = f.Name, f.Version, f.Upload
		}},
		Member{"config", func(at Path) { c.Settings = r.Settings(at) }},
	)
	if ok && !given["targetFunction"] {
		r.Add(MissingTargetFunction, at.Member("targetFunction"), "required, an object with the name of an uploaded function")
	}
}

func (r *Reader) hosting(at Path) (*pb.Hosting, *HostingKeys) {
	h, keys := new(pb.Hosting), new(HostingKeys)
	text := func(into *string) func(Path) {
		return func(at Path) { *into = r.PlainText(at, BadHosting, longestHosting) }
	}
	given, _ := r.Object(at,
		Member{"Profile", text(&h.Profile)},
		Member{"Access", text(&keys.Access)},
		Member{"Secret", text(&keys.Secret)},
		Member{"FleetId", text(&h.Fleet)},
		Member{"OnAllocationError", func(at Path) { h.OnAllocationError = r.oneOf(at, BadHosting, Fail, Requeue) }},
	)
	keys.SecretGiven = given["Secret"]
	return h, keys
}
