package block

// kindNaming is the section of a request that asks only which columns the function reads with the settings.
const kindNaming = 27

// MaxColumns bounds what a function answers to that, in bytes. FORMAT.md names it too.
const MaxColumns = 256 << 10

// Columns are what a function reads with the settings of one config, beside what its manifest names.
type Columns struct {
	Attributes, Properties             []string
	PlayerAttributes, PlayerProperties []string
	// PlayerIDs is set if it reads the ids of players. It counts only for a function whose manifest says that it may.
	PlayerIDs bool
}

// With returns the manifest with the columns, as if it named them.
func (m Manifest) With(c Columns) Manifest {
	add := func(to *[]string, names []string) { *to = append((*to)[:len(*to):len(*to)], names...) }
	if !m.EveryAttribute() {
		add(&m.Attributes, c.Attributes)
	}
	if !m.EveryProperty() {
		add(&m.Properties, c.Properties)
	}
	if m.Players != nil {
		p := *m.Players
		add(&p.Attributes, c.PlayerAttributes)
		add(&p.Properties, c.PlayerProperties)
		p.IDs = p.IDs || c.PlayerIDs && len(p.IDSettings) > 0
		m.Players = &p
	}
	return m
}

// Naming says that the function is asked only which columns it reads with the settings. Such a request has no ticket.
func (b *RequestBuilder) Naming() { b.column(kindNaming, "", 0) }

// Columns adds the columns that the function reads with the settings of a request that asks for them.
func (b *AnswerBuilder) Columns(c Columns) {
	m := Manifest{Attributes: c.Attributes, Properties: c.Properties, Players: &PlayerManifest{
		Attributes: c.PlayerAttributes, Properties: c.PlayerProperties, IDs: c.PlayerIDs,
	}}
	b.columns = m.JSON()
}
