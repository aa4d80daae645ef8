package matchfn

import "matchmaker.dev/pkg/matchfn/block"

// Columns are what a function reads with the settings of one config.
type Columns = block.Columns

// ColumnsOf says that the function names columns for the settings of each config, beside the other options'. It
// is for settings in which paths find no names: see [AttributesNamedBy]. The service asks before it gives the function
// tickets of the config, and gives it what of is in the answer. Columns of players count only with the option [Players]
// or another one about players, and PlayerIDs only with [PlayerIDsWith] or [PlayerIDs].
//
// The argument is [Run.Config]'s. The same settings must have the same columns. An error fails the run, as an
// error of a run does.
func ColumnsOf(of func(config []byte) (Columns, error)) Option {
	return func(f *Function) { f.manifest.Columns, f.naming.of = of != nil, of }
}

// Columns returns what the function names for settings; nothing without the option [ColumnsOf].
func (f *Function) Columns(settings []byte) (Columns, error) { return f.naming.columns(settings) }

// name answers a request that asks for the columns.
func (f *Function) name(settings []byte) []byte {
	c, err := f.naming.columns(settings)
	if err != nil {
		return f.answer.Fail(err.Error())
	}
	f.answer.Columns(c)
	return f.answer.Finish()
}

// mostNamings is of how many settings a function keeps the columns.
const mostNamings = 16

// naming is the columns that a function names.
type naming struct {
	of    func(config []byte) (Columns, error) // nil for none
	known map[string]Columns                   // by settings
}

func (n *naming) columns(settings []byte) (Columns, error) {
	if n.of == nil {
		return Columns{}, nil
	}
	if c, ok := n.known[string(settings)]; ok {
		return c, nil
	}
	c, err := n.of(settings)
	if err != nil {
		return Columns{}, err
	}
	if n.known == nil || len(n.known) >= mostNamings {
		n.known = map[string]Columns{}
	}
	n.known[string(settings)] = c
	return c, nil
}

// names are the names of one kind, as Run.declared calls them. A run with settings that are wrong says so itself.
func (n *naming) names(what string, settings []byte) []string {
	c, err := n.columns(settings)
	if err != nil {
		return nil
	}
	switch what {
	case "attribute":
		return c.Attributes
	case "property":
		return c.Properties
	case "player attribute":
		return c.PlayerAttributes
	}
	return c.PlayerProperties
}
