package snapshot

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"matchmaker.dev/services/internal/state"
)

const (
	magic     = "MMINDEX\x01"
	maxHeader = 4 << 10
	chunkSize = 64 << 10
	lastChunk = 1 << 31
)

// Header says what a file is of. It names no player.
type Header struct {
	Project string `json:"project"`
	// Secret is the name of what decrypts the file.
	Secret   string       `json:"secret"`
	Origin   state.Origin `json:"origin"`
	Position uint64       `json:"position"` // of the feed
	Written  time.Time    `json:"written"`
}

// sealer encrypts, or decrypts, the chunks of one file.
type sealer struct {
	aead   cipher.AEAD
	digest [sha256.Size]byte
	nonce  [12]byte
	chunk  uint64
}

func newSealer(secret, head []byte) (*sealer, error) {
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	return &sealer{aead: aead, digest: sha256.Sum256(head)}, err
}

// next is the nonce of the next chunk.
func (s *sealer) next(last bool) []byte {
	binary.BigEndian.PutUint64(s.nonce[:], s.chunk)
	s.nonce[8] = 0
	if last {
		s.nonce[8] = 1
	}
	s.chunk++
	return s.nonce[:]
}

// encoder writes the chunks of a file.
type encoder struct {
	*sealer
	out    io.Writer
	plain  []byte
	sealed []byte
}

func newEncoder(out io.Writer, h Header, secret []byte) (*encoder, error) {
	text, err := json.Marshal(h) //nolint:gosec // the name of the secret, which is elsewhere
	if err != nil {
		return nil, err
	}
	if len(text) > maxHeader {
		return nil, fmt.Errorf("the header of a snapshot has %d bytes, more than %d", len(text), maxHeader)
	}
	head := binary.BigEndian.AppendUint32([]byte(magic), uint32(len(text)))
	head = append(head, text...)
	s, err := newSealer(secret, head)
	if err != nil {
		return nil, err
	}
	_, err = out.Write(head)
	return &encoder{sealer: s, out: out, plain: make([]byte, 0, chunkSize)}, err
}

func (e *encoder) Write(p []byte) (n int, err error) {
	n = len(p)
	for len(p) > 0 {
		if len(e.plain) == chunkSize {
			if err := e.flush(false); err != nil {
				return 0, err
			}
		}
		room := min(len(p), chunkSize-len(e.plain))
		e.plain, p = append(e.plain, p[:room]...), p[room:]
	}
	return n, nil
}

// close writes the last chunk.
func (e *encoder) close() error { return e.flush(true) }

func (e *encoder) flush(last bool) error {
	length := uint32(len(e.plain) + e.aead.Overhead())
	if last {
		length |= lastChunk
	}
	e.sealed = binary.BigEndian.AppendUint32(e.sealed[:0], length)
	e.sealed = e.aead.Seal(e.sealed, e.next(last), e.plain, e.digest[:])
	e.plain = e.plain[:0]
	_, err := e.out.Write(e.sealed)
	return err
}

// readHeader reads the header of a file, and returns all bytes up to its end.
func readHeader(in io.Reader) (h Header, head []byte, err error) {
	head = make([]byte, len(magic)+4)
	if _, err := io.ReadFull(in, head); err != nil {
		return h, nil, err
	}
	if !bytes.HasPrefix(head, []byte(magic)) {
		return h, nil, errors.New("it is no snapshot, or one of another version")
	}
	length := binary.BigEndian.Uint32(head[len(magic):])
	if length > maxHeader {
		return h, nil, fmt.Errorf("its header has %d bytes, more than %d", length, maxHeader)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(in, text); err != nil {
		return h, nil, err
	}
	if err := json.Unmarshal(text, &h); err != nil {
		return h, nil, fmt.Errorf("its header: %w", err)
	}
	return h, append(head, text...), nil
}

// decoder reads the chunks of a file. It returns nothing that it has not verified.
type decoder struct {
	*sealer
	in     io.Reader
	sealed []byte
	plain  []byte // what was not read yet
	ended  bool
}

func (d *decoder) Read(p []byte) (int, error) {
	for len(d.plain) == 0 {
		if d.ended {
			return 0, io.EOF
		}
		if err := d.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, d.plain)
	d.plain = d.plain[n:]
	return n, nil
}

func (d *decoder) fill() error {
	var word [4]byte
	if _, err := io.ReadFull(d.in, word[:]); err != nil {
		return torn(err)
	}
	length := binary.BigEndian.Uint32(word[:])
	last := length&lastChunk != 0
	length &^= lastChunk
	if length > chunkSize+uint32(d.aead.Overhead()) {
		return fmt.Errorf("chunk %d has %d bytes", d.chunk, length)
	}
	if cap(d.sealed) < int(length) {
		d.sealed = make([]byte, chunkSize+d.aead.Overhead())
	}
	d.sealed = d.sealed[:length]
	if _, err := io.ReadFull(d.in, d.sealed); err != nil {
		return torn(err)
	}
	number := d.chunk
	var err error
	if d.plain, err = d.aead.Open(d.sealed[:0], d.next(last), d.sealed, d.digest[:]); err != nil {
		return fmt.Errorf("chunk %d: %w", number, err)
	}
	if d.ended = last; last {
		if n, _ := io.ReadFull(d.in, word[:1]); n > 0 {
			return errors.New("bytes follow its last chunk")
		}
	}
	return nil
}

// torn makes the end of a file an error: a whole one says that it ends.
func torn(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
