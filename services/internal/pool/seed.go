package pool

import (
	"crypto/rand"
	"encoding/binary"
	"math/bits"
)

// seed is the key of a hash of ids: SipHash-2-4, so that ids with one hash cannot be chosen without it. Unlike a seed
// of hash/maphash it can be stored: see Save.
type seed [2]uint64

const seedSize = 16

// newSeed returns a random one.
func newSeed() seed {
	var b [seedSize]byte
	_, _ = rand.Read(b[:]) // it returns no error
	return seedIn(b[:])
}

// seedIn reads a seed.
func seedIn(b []byte) seed {
	return seed{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
}

// appendTo appends the seed.
func (s seed) appendTo(b []byte) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, s[0]), s[1])
}

// sum is the hash of an id.
func (s seed) sum(id []byte) uint64 {
	v0, v1 := s[0]^0x736f6d6570736575, s[1]^0x646f72616e646f6d
	v2, v3 := s[0]^0x6c7967656e657261, s[1]^0x7465646279746573
	last := uint64(len(id)) << 56
	for ; len(id) >= 8; id = id[8:] {
		m := binary.LittleEndian.Uint64(id)
		v3 ^= m
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
		v0 ^= m
	}
	for i, b := range id {
		last |= uint64(b) << (8 * i)
	}
	v3 ^= last
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0 ^= last
	v2 ^= 0xff
	for range 4 {
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	}
	return v0 ^ v1 ^ v2 ^ v3
}

func sipRound(v0, v1, v2, v3 uint64) (w0, w1, w2, w3 uint64) {
	v0 += v1
	v1 = bits.RotateLeft64(v1, 13) ^ v0
	v0 = bits.RotateLeft64(v0, 32)
	v2 += v3
	v3 = bits.RotateLeft64(v3, 16) ^ v2
	v0 += v3
	v3 = bits.RotateLeft64(v3, 21) ^ v0
	v2 += v1
	v1 = bits.RotateLeft64(v1, 17) ^ v2
	v2 = bits.RotateLeft64(v2, 32)
	return v0, v1, v2, v3
}
