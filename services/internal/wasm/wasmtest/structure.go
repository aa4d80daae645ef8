package wasmtest

import "bytes"

// Structures are cases with much control flow: blocks, and values that live across them. Their time grows with the
// square of the size, or more.
func Structures() []Case {
	return []Case{
		{Name: "blocks", Size: 8000, Body: func(n int) (int, []byte) {
			return 0, bytes.Repeat([]byte{0x02, 0x40, 0x20, param, 0x0d, 0, 0x0b}, n)
		}},
		{Name: "ifs", Size: 8000, Body: func(n int) (int, []byte) {
			return 0, bytes.Repeat([]byte{0x20, param, 0x04, 0x40, 0x0b}, n)
		}},
		{Name: "loops", Size: 5500, Body: func(n int) (int, []byte) {
			return 0, bytes.Repeat([]byte{0x03, 0x40, 0x20, param, 0x0d, 0, 0x0b}, n)
		}},
		{Name: "branches to one block", Size: 8000, Body: func(n int) (int, []byte) {
			return 0, cat([]byte{0x02, 0x40}, bytes.Repeat([]byte{0x20, param, 0x0d, 0}, n), []byte{0x0b})
		}},
		{Name: "a table of targets", Body: func(n int) (int, []byte) {
			return 0, cat([]byte{0x02, 0x40, 0x20, param, 0x0e}, uleb(n), bytes.Repeat([]byte{0}, n+1), []byte{0x0b})
		}},
		{Name: "locals used across blocks", Size: 950, Body: func(n int) (int, []byte) {
			return n, cat(setAll(n), bytes.Repeat([]byte{0x02, 0x40, 0x20, param, 0x0d, 0, 0x0b}, n), useAll(n))
		}},
		{Name: "a local set before each branch to one block", Size: 650, Body: func(n int) (int, []byte) {
			code := []byte{0x02, 0x40}
			for l := range n {
				code = cat(code, []byte{0x42, 1, 0x21}, uleb(others+l), []byte{0x20, param, 0x0d, 0})
			}
			return n, cat(code, []byte{0x0b}, useAll(n))
		}},
		{Name: "a loop that uses locals, and branches back to it", Size: 700, Body: func(n int) (int, []byte) {
			return n, cat(setAll(n), []byte{0x03, 0x40}, useAll(n), bytes.Repeat([]byte{0x20, param, 0x0d, 0}, n), []byte{0x0b})
		}},
		{Name: "a loop that changes locals, and branches back to it", Size: 550, Body: func(n int) (int, []byte) {
			code := []byte{0x03, 0x40}
			for l := range n {
				code = cat(code, []byte{0x20}, uleb(others+l), []byte{0x42, 1, 0x7c, 0x21}, uleb(others+l),
					[]byte{0x20, param, 0x0d, 0})
			}
			return n, cat(code, []byte{0x0b}, useAll(n))
		}},
		{Name: "fifty loops within each other that use locals", Size: 950, Body: func(n int) (int, []byte) {
			return n, cat(setAll(n), bytes.Repeat([]byte{0x03, 0x40}, 50), useAll(n),
				bytes.Repeat([]byte{0x20, param, 0x0d, 0, 0x0b}, 50))
		}},
		{Name: "ifs that change locals", Size: 1000, Body: func(n int) (int, []byte) {
			var code []byte
			for l := range n {
				code = cat(code, []byte{0x20, param, 0x04, 0x40, 0x42, 1, 0x21}, uleb(others+l), []byte{0x0b})
			}
			return n, cat(code, useAll(n))
		}},
		{Name: "loops one after the other that use locals", Size: 700, Body: func(n int) (int, []byte) {
			var code []byte
			for range n {
				code = cat(code, []byte{0x03, 0x40}, useSome(n, 20), []byte{0x20, param, 0x0d, 0, 0x0b})
			}
			return n, cat(setAll(n), code, useAll(n))
		}},
		{Name: "a loop with ifs that change locals", Size: 950, Body: func(n int) (int, []byte) {
			code := []byte{0x03, 0x40}
			for l := range n {
				code = cat(code, []byte{0x20, param, 0x04, 0x40, 0x20}, uleb(others+l), []byte{0x42, 1, 0x7c, 0x21},
					uleb(others+l), []byte{0x0b})
			}
			return n, cat(code, []byte{0x20, param, 0x0d, 0, 0x0b}, useAll(n))
		}},
		{Name: "a loop around a table of cases that change locals", Size: 5500, Body: func(n int) (int, []byte) {
			// As compilers make of a machine with states.
			code := cat([]byte{0x03, 0x40}, bytes.Repeat([]byte{0x02, 0x40}, n), []byte{0x20, param, 0x0e}, uleb(n-1))
			for l := range n {
				code = cat(code, uleb(l))
			}
			for l := range n {
				code = cat(code, []byte{0x0b, 0x20}, uleb(others+l%50), []byte{0x42, 1, 0x7c, 0x21}, uleb(others+l%50),
					[]byte{0x0c}, uleb(n-1-l))
			}
			return min(n, 50), cat(code, []byte{0x0b})
		}},
	}
}

// setAll sets each local.
func setAll(n int) (code []byte) {
	for l := range n {
		code = append(append(code, 0x42, 1, 0x21), uleb(others+l)...)
	}
	return code
}

// useAll adds all locals up.
func useAll(n int) []byte { return useSome(n, n) }

// useSome adds some of the locals up.
func useSome(n, some int) (code []byte) {
	for l := range min(n, some) {
		code = append(append(append(code, 0x20, ofI64, 0x20), uleb(others+l)...), 0x7c, 0x21, ofI64)
	}
	return code
}
