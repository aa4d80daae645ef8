package wasm

// reader reads a part of a module. When it meets what cannot be it fails: then it is at the end, and reads zeros.
type reader struct {
	bytes  []byte
	at     int
	failed bool
}

func (r *reader) more() bool { return r.at < len(r.bytes) }

func (r *reader) fail() { r.at, r.failed = len(r.bytes), true }

// skip skips n bytes, and returns them.
func (r *reader) skip(n uint32) []byte {
	if uint64(n) > uint64(len(r.bytes)-r.at) {
		r.fail()
		return nil
	}
	r.at += int(n)
	return r.bytes[r.at-int(n) : r.at]
}

func (r *reader) byte() byte {
	if !r.more() {
		r.fail()
		return 0
	}
	r.at++
	return r.bytes[r.at-1]
}

// number reads an unsigned number of 32 bits in LEB128.
func (r *reader) number() uint32 {
	b := r.byte()
	if b < 0x80 {
		return uint32(b)
	}
	n := uint32(b & 0x7f)
	for shift := 7; shift < 35; shift += 7 {
		b = r.byte()
		if n |= uint32(b&0x7f) << shift; b < 0x80 {
			return n
		}
	}
	r.fail()
	return 0
}

// leb skips a number in LEB128 of at most n bytes.
func (r *reader) leb(n int) {
	for range n {
		if r.byte() < 0x80 {
			return
		}
	}
	r.fail()
}

// count reads how many items follow, each of at least one byte: more than there are bytes left cannot be.
func (r *reader) count() int {
	n := r.number()
	if uint64(n) > uint64(len(r.bytes)-r.at) {
		r.fail()
		return 0
	}
	return int(n)
}

// part is a reader of the next bytes, as many as the number before them says.
func (r *reader) part() reader { return reader{bytes: r.skip(r.number())} }
