// Package receipt is what beacons sign: how long a round trip between a region and a client's network took. A client
// puts receipts into its ticket, and the service believes them.
//
// A receipt is binary, its numbers are big-endian, and it is Base64 of URLs without padding in JSON:
//
//	byte 0      version, 1
//	byte 1      family of the client's address, 4 or 6
//	bytes 2-9   when it was measured, in milliseconds since 1970 by the beacon's clock
//	bytes 10-13 the round trip in microseconds
//	bytes 14-21 digest of the client's network
//	byte 22     length of the region's name, 1 to 32
//	            the name
//	16 bytes    authenticator of all before
//
// Digest and authenticator are HMAC-SHA256, cut, with a key that the region's beacon shares with the service. A
// signature by a public key takes forty times as long to make, and two hundred times as long to verify.
// The network is the /24 of an IPv4 address and the /48 of an IPv6 address: what providers give to one site or one
// gateway of many phones. Without the key no network of a digest is found by trying all.
package receipt

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"net/netip"
	"time"
)

const (
	version    = 1
	headSize   = 23
	digestSize = 8
	tagSize    = 16
	// LongestName is the most bytes of a region's name.
	LongestName = 32
	// MaxSize is the most bytes of a receipt.
	MaxSize = headSize + LongestName + tagSize
	// Purpose is what the keys of a ring are derived for.
	Purpose = "matchmaker beacon receipt 1"
)

// Longest is the longest round trip that a receipt tells.
const Longest = 2 * time.Second

// Signer signs the receipts of one region. It is not safe for concurrent use, and allocates nothing.
type Signer struct {
	region string
	mac    hash.Hash
	sum    [sha256.Size]byte
	prefix [8]byte
}

// NewSigner returns a signer for a region, whose name has at most LongestName bytes.
func NewSigner(region string, key []byte) *Signer {
	return &Signer{region: region, mac: hmac.New(sha256.New, key)}
}

// Append appends the receipt of a round trip.
func (s *Signer) Append(to []byte, client netip.Addr, rtt time.Duration, now time.Time) []byte {
	start := len(to)
	to = append(to, version, family(client))
	to = binary.BigEndian.AppendUint64(to, uint64(now.UnixMilli()))
	to = binary.BigEndian.AppendUint32(to, uint32(rtt.Microseconds()))
	to = append(to, s.digest(client)...)
	to = append(to, byte(len(s.region)))
	to = append(to, s.region...)
	return append(to, s.tag(to[start:])...)
}

// digest is the digest of the client's network, until the next call of a method.
func (s *Signer) digest(client netip.Addr) []byte {
	s.mac.Reset()
	s.mac.Write(AppendNetwork(s.prefix[:0], client)) // begins with 4 or 6, and what tag takes with 1
	return s.mac.Sum(s.sum[:0])[:digestSize]
}

// tag is the authenticator of a receipt, until the next call of a method.
func (s *Signer) tag(receipt []byte) []byte {
	s.mac.Reset()
	s.mac.Write(receipt)
	return s.mac.Sum(s.sum[:0])[:tagSize]
}

// AppendNetwork appends the network of an address, with its family before it: 4 bytes or 7.
func AppendNetwork(to []byte, client netip.Addr) []byte {
	to = append(to, family(client))
	if client.Is4() || client.Is4In6() {
		raw := client.As4()
		return append(to, raw[:3]...)
	}
	raw := client.As16()
	return append(to, raw[:6]...)
}

func family(a netip.Addr) byte {
	if a.Is4() || a.Is4In6() {
		return 4
	}
	return 6
}

// receipt is one that was read, before it is believed.
type receipt struct {
	family      byte
	measured    time.Time
	rtt         time.Duration
	digest, tag []byte
	region      string
	signed      []byte                  // what tag is of
	isOf        func(a netip.Addr) bool // whether the digest is of an address's network; set by verify
}

// parse reads a receipt.
func parse(raw []byte) (r receipt, ok bool) {
	if len(raw) < headSize+tagSize || raw[0] != version || raw[1] != 4 && raw[1] != 6 {
		return r, false
	}
	if n := int(raw[22]); n == 0 || n > LongestName || len(raw) != headSize+n+tagSize {
		return r, false
	}
	end := len(raw) - tagSize
	r = receipt{
		family: raw[1], measured: time.UnixMilli(int64(binary.BigEndian.Uint64(raw[2:]))),
		rtt:    time.Duration(binary.BigEndian.Uint32(raw[10:])) * time.Microsecond,
		digest: raw[14 : 14+digestSize], region: string(raw[headSize:end]), tag: raw[end:], signed: raw[:end],
	}
	return r, CheckName(r.region) == nil
}
