package definition

import "errors"

// Limits bound a definition. Each filter of a pool is a scan of a column of the index in every cycle.
type Limits struct {
	Name    int `help:"Most bytes of the name of an attribute, a property or a pool." default:"128" name:"name-length" group:"tickets"`
	Pools   int `help:"Most pools of a config." default:"64" name:"max-pools" group:"cycle"`
	Filters int `help:"Most filters of a pool." default:"64" name:"max-filters" group:"cycle"`
}

// Validate names the flags that make no sense.
func (l *Limits) Validate() error {
	if l.Name < 1 || l.Pools < 1 || l.Filters < 1 {
		return errors.New("--name-length, --max-pools and --max-filters must be more than 0")
	}
	return nil
}

// maxDepth is how deep objects and arrays may nest in a function's settings: as deep as rule sets, and as pkg/matchfn
// reads.
const maxDepth = 32
