package fields

// mostPlayers is how many players a match may have: a ticket with more could never be matched.
const mostPlayers = 1000

// Limits bound what the fields of one request may hold.
type Limits struct {
	Attributes int `help:"Most attributes of a ticket." default:"64" name:"max-attributes" bounds:"0.." group:"tickets"`
	Properties int `help:"Most properties of a ticket." default:"64" name:"max-properties" bounds:"0.." group:"tickets"`
	Players    int `help:"Most players of a ticket." default:"64" name:"ticket-players" bounds:"1..1000" group:"tickets"`
	// Name is the length in bytes of an attribute's or a property's name, as in definition.Limits.
	Name int `kong:"-"`
}
