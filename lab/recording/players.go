package recording

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A list of players is what a recording leaves out: their ids. It is a file of its own, which may be kept elsewhere,
// and without which no player is found in the recording. Its first line has the recording's id. Each other line has
// the number of a player, a tab, and the id.
const playersBegin = "mmplayers "

// maxLine is more than a line of a list has.
const maxLine = 1024

// PlayersWriter writes a list of players.
type PlayersWriter struct {
	out     *bufio.Writer
	written int64
}

// NewPlayersWriter begins the list of a recording's players.
func NewPlayersWriter(out io.Writer, id ID) (*PlayersWriter, error) {
	w := &PlayersWriter{out: bufio.NewWriter(out)}
	return w, w.line(playersBegin + hex.EncodeToString(id[:]))
}

// Add adds a player. The id has no character that cannot be printed.
func (w *PlayersWriter) Add(number uint64, id string) error {
	return w.line(strconv.FormatUint(number, 10) + "\t" + id)
}

func (w *PlayersWriter) line(text string) error {
	n, err := w.out.WriteString(text + "\n")
	w.written += int64(n)
	return err
}

// Size is how many bytes the list has.
func (w *PlayersWriter) Size() int64 { return w.written }

// Close writes what is still in memory.
func (w *PlayersWriter) Close() error { return w.out.Flush() }

// ReadPlayers reads a list, and hands each player to take.
func ReadPlayers(from io.Reader, take func(number uint64, id string) error) (ID, error) {
	var id ID
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, maxLine), maxLine)
	if !lines.Scan() {
		return id, errors.Join(lines.Err(), errors.New("this is no list of players: it is empty"))
	}
	text, is := strings.CutPrefix(lines.Text(), playersBegin)
	if n, err := hex.Decode(id[:], []byte(text[:min(len(text), 2*len(id))])); !is || err != nil || n != len(id) ||
		len(text) != 2*len(id) {
		return id, errors.New("this is no list of players: it does not begin as one")
	}
	for at := 2; lines.Scan(); at++ {
		first, player, is := strings.Cut(lines.Text(), "\t")
		number, err := strconv.ParseUint(first, 10, 64)
		if !is || err != nil {
			return id, fmt.Errorf("line %d: a number, a tab and the id of a player are expected", at)
		}
		if err := take(number, player); err != nil {
			return id, err
		}
	}
	return id, lines.Err()
}
