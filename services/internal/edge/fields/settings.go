package fields

import (
	"errors"
	"fmt"
)

// mostPlayers is how many players a match may have: a ticket with more could never be matched.
const mostPlayers = 1000

// Limits bound what the fields of one request may hold.
type Limits struct {
	Attributes int `help:"Most attributes of a ticket." default:"64" name:"max-attributes" group:"tickets"`
	Properties int `help:"Most properties of a ticket." default:"64" name:"max-properties" group:"tickets"`
	Players    int `help:"Most players of a ticket." default:"64" name:"ticket-players" group:"tickets"`
	// Name is the length in bytes of an attribute's or a property's name, as in definition.Limits.
	Name int `kong:"-"`
}

// Validate names the flags that make no sense.
func (l *Limits) Validate() error {
	if l.Attributes < 0 || l.Properties < 0 {
		return errors.New("--max-attributes and --max-properties must not be negative")
	}
	if l.Players < 1 || l.Players > mostPlayers {
		return fmt.Errorf("--ticket-players must be between 1 and %d", mostPlayers)
	}
	return nil
}
