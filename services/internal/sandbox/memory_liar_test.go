package sandbox

import (
	"bytes"
	"io"
	"math"
	"os"
)

// LiarMain is Main of a child that is taken over: it answers its first request with a lie.
func LiarMain(lie string) int {
	return takenOver(func(c *child) error {
		err := c.lie(lie)
		if ends := lie == "mutters" || lie == "changes its mind"; err == nil && !ends {
			_, err = io.Copy(io.Discard, c.requests) // until it is killed
		}
		return err
	})
}

func (c *child) lie(lie string) error {
	memory, err := c.wholeMemory()
	if err != nil {
		return err
	}
	if err := c.send(head{kind: readyFrame}, []byte("{}")); err != nil {
		return err
	}
	for range 2 { // the size of the buffer, and the length of the request
		if _, err := readLength(c.requests); err != nil {
			return err
		}
	}
	size, long := uint64(len(memory)), 2*minShared
	place := func(at uint64) error { return c.send(head{kind: bufferFrame, at: at}, nil) }
	answer := func(n int, at uint64) error { return c.write(head{kind: answerFrame, length: n, at: at}, nil) }
	switch lie {
	case "place beyond":
		return place(size)
	case "place at the edge":
		return place(size - 8)
	case "buffer beyond": // the request fits, the buffer does not
		return place(size - 100_000)
	case "place out of line":
		if err := place(9); err != nil {
			return err
		}
		return answer(long, 8)
	case "place far beyond":
		return place(math.MaxUint64 - 8)
	case "no place":
		return answer(long, 8)
	case "mutters":
		_, err := os.Stderr.WriteString("words\xff\n")
		return err
	}
	if err := place(8); err != nil {
		return err
	}
	if _, err := readLength(c.requests); err != nil {
		return err
	}
	switch lie {
	case "place twice":
		return place(8)
	case "answer beyond":
		return answer(long, size-8)
	case "answer far beyond":
		return answer(long, math.MaxUint64-uint64(long)+1)
	case "answer too long":
		return answer(c.settings.Answer+1, 8)
	case "changes its mind":
		copy(memory[8:], bytes.Repeat([]byte("honest, "), long/8))
		if err := answer(long, 8); err != nil {
			return err
		}
		if _, err := readLength(c.requests); err != nil { // it was read
			return err
		}
		clear(memory[8:][:long])
	}
	return nil
}
