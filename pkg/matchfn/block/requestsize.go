package block

// RequestSize computes the length of a request before it is written. Its zero value is a request without sections; add
// what the request will have, in any order.
type RequestSize struct {
	sections, names, bytes int64
	columns                int64
}

// Meta adds what every request has: the meta section, the config's settings, and the columns created and wait.
func (s *RequestSize) Meta(m Meta, settings int) {
	s.section("", m.size())
	s.section("", settings)
	for range 2 {
		s.section("", 8*m.Tickets)
	}
}

// Backfills adds the columns that backfill tickets always have; connections is how many bytes they have in all.
func (s *RequestSize) Backfills(n, connections int) {
	s.section("", 8*n)
	s.section("", 8*n)
	s.section("", 8*n+connections)
}

// Numbers adds n numbers of tickets or players: a pool, tickets that are barred, or where players start.
func (s *RequestSize) Numbers(name string, n int) { s.section(name, 4*n) }

// Column adds a column of n tickets or players: attributes, handles, or values that have so many bytes in all.
func (s *RequestSize) Column(name string, n, bytes int) {
	s.section(name, 8*n+bytes)
	s.columns++
}

// Bytes is the length of the request.
func (s *RequestSize) Bytes() int64 {
	return headerSize + s.bytes + align8(s.sections*entrySize+s.names)
}

// Columns is the number of attributes and properties.
func (s *RequestSize) Columns() int64 { return s.columns }

func (s *RequestSize) section(name string, bytes int) {
	s.sections++
	s.names += int64(len(name))
	s.bytes += align8(int64(bytes))
}
