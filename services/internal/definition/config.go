package definition

import pb "matchmaker.dev/proto/matchmaker/v1"

// Lengths in bytes.
const (
	longestTitle   = 256  // of a config's name, which people read
	longestHosting = 1024 // the keys of cloud providers have some tens of characters, signed ones some hundreds
)

// Config reads a whole config but for its id, which is not in the document.
func (r *Reader) Config() *pb.Config {
	c := new(pb.Config)
	given, ok := r.Object("",
		Member{"matchmaking", func(at Path) { r.matchmaking(at, c) }},
		Member{"pools", func(at Path) { c.Pools, c.PoolsSet = r.Pools(at), true }},
		Member{"hosting", func(at Path) { c.Hosting = r.hosting(at) }},
	)
	if ok && !given["matchmaking"] {
		r.Add(MissingMatchmaking, "matchmaking", "required, an object that names the function to run")
	}
	return c
}

func (r *Reader) matchmaking(at Path, c *pb.Config) {
	given, ok := r.Object(at,
		Member{"name", func(at Path) { c.Name = r.Plain(at, BadName, longestTitle) }},
		Member{"targetFunction", func(at Path) {
			f := r.Function(at)
			c.Function, c.FunctionVersion = f.Name, f.Version
		}},
		Member{"config", func(at Path) { c.Settings = r.Settings(at) }},
	)
	if ok && !given["targetFunction"] {
		r.Add(MissingTargetFunction, at.Member("targetFunction"), "required, an object with the name of an uploaded function")
	}
}

func (r *Reader) hosting(at Path) *pb.Hosting {
	h := new(pb.Hosting)
	text := func(into *string) func(Path) {
		return func(at Path) { *into = r.Plain(at, BadHosting, longestHosting) }
	}
	r.Object(at,
		Member{"Profile", text(&h.Profile)},
		Member{"Access", text(&h.Access)},
		Member{"Secret", text(&h.Secret)},
		Member{"FleetId", text(&h.Fleet)},
	)
	return h
}
