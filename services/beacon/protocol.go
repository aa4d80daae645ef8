package beacon

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"net/netip"
	"time"

	"matchmaker.dev/services/internal/edge/receipt"
)

// A datagram begins with the magic and its kind. Questions have QuestionSize bytes, with zeros at the end; no answer
// has more.
//
//	kind 1  question  nonce of the client
//	kind 2  answer    the nonce, time, authenticator of both and of the client's address
//	kind 3  question  the bytes of the answer
//	kind 4  answer    the nonce, receipt
const (
	magic        = "mmb\x01"
	QuestionSize = 104

	kindAt, nonceAt, timeAt, tagAt = 4, 8, 24, 32

	greetingSize = 48 // of an answer of kind 2
	receiptAt    = timeAt
	tagSize      = greetingSize - tagAt
)

const (
	ask = 1 + iota
	greet
	prove
	grant
)

// proofOf separates what authenticators of UDP and of HTTP are of.
const (
	ofUDP  = 'u'
	ofHTTP = 'h'
)

// outcome is what became of a question.
type outcome uint8

const (
	greeted   outcome = iota // the first question was answered
	granted                  // the second question was answered with a receipt
	malformed                // it is no question
	unproven                 // the second question has a wrong authenticator, or a late one
	limited                  // its network asks too often
	outcomes
)

func (o outcome) String() string {
	return [...]string{"greeted", "granted", "malformed", "unproven", "limited"}[o]
}

// prober answers questions of one goroutine, and allocates nothing.
type prober struct {
	b      *Beacon
	proof  hash.Hash
	key    *[]byte
	signer *receipt.Signer
	sum    [sha256.Size]byte
	proven [1 + tagAt - nonceAt + 16 + 2]byte
}

func (b *Beacon) newProber() *prober {
	return &prober{b: b, proof: hmac.New(sha256.New, b.secret[:])}
}

// answer appends the answer to a datagram that came now, by the process's clock; nothing for none.
func (p *prober) answer(to, question []byte, from netip.AddrPort, now time.Duration) ([]byte, outcome) {
	if len(question) != QuestionSize || string(question[:kindAt]) != magic {
		return to, malformed
	}
	kind := question[kindAt]
	if kind != ask && kind != prove {
		return to, malformed
	}
	if !p.b.limiter.allow(from.Addr(), now) {
		return to, limited
	}
	if kind == ask {
		to = append(to, magic...)
		to = append(to, greet, 0, 0, 0)
		to = append(to, question[nonceAt:timeAt]...)
		to = binary.BigEndian.AppendUint64(to, uint64(now))
		return append(to, p.tag(ofUDP, to[len(to)-(tagAt-nonceAt):], from)...), greeted
	}
	rtt, ok := p.check(ofUDP, question[nonceAt:greetingSize], from, now)
	if !ok {
		return to, unproven
	}
	to = append(to, magic...)
	to = append(to, grant, 0, 0, 0)
	to = append(to, question[nonceAt:timeAt]...)
	return p.receipt(to, from.Addr(), rtt), granted
}

// check is the time since an authenticator of nonce, time and tag was made for an address.
func (p *prober) check(of byte, proof []byte, from netip.AddrPort, now time.Duration) (rtt time.Duration, ok bool) {
	end := len(proof) - tagSize
	if !hmac.Equal(p.tag(of, proof[:end], from), proof[end:]) {
		return 0, false
	}
	rtt = now - time.Duration(binary.BigEndian.Uint64(proof[end-8:end]))
	return rtt, rtt >= 0 && rtt <= receipt.Longest
}

// tag is the authenticator of a nonce and a time for an address, until the next call.
func (p *prober) tag(of byte, said []byte, from netip.AddrPort) []byte {
	address := from.Addr().As16()
	text := append(p.proven[:0], of)
	text = append(text, said...)
	text = append(text, address[:]...)
	text = binary.BigEndian.AppendUint16(text, from.Port())
	p.proof.Reset()
	p.proof.Write(text)
	return p.proof.Sum(p.sum[:0])[:tagSize]
}

// receipt appends a receipt, signed with the key that the beacon has now.
func (p *prober) receipt(to []byte, from netip.Addr, rtt time.Duration) []byte {
	if key := p.b.key.Load(); key != p.key {
		p.key, p.signer = key, receipt.NewSigner(p.b.Settings.Region, *key)
	}
	return p.signer.Append(to, from, rtt, p.b.Wall())
}
