package definition

// Limits bound a definition. Each filter of a pool is a scan of a column of the index in every cycle.
type Limits struct {
	Name    int `help:"Most bytes of the name of an attribute, a property or a pool." default:"128" name:"name-length" bounds:"1.." group:"tickets"`
	Pools   int `help:"Most pools of a config." default:"64" name:"max-pools" bounds:"1.." group:"cycle"`
	Filters int `help:"Most filters of a pool." default:"64" name:"max-filters" bounds:"1.." group:"cycle"`
}

// maxDepth is how deep objects and arrays may nest in a function's settings: as deep as rule sets, and as pkg/matchfn
// reads.
const maxDepth = 32
