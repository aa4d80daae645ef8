package insight

// Settings of what studios look at.
type Settings struct {
	Streams int `help:"How many streams of events of projects (GET /events) one process has open; a project gets half of what the others leave free." default:"64" name:"max-event-streams" bounds:"0.." group:"events"`
}
