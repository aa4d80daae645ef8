package lab

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"matchmaker.dev/services/lab/recording"
)

type recordErase struct {
	File    string `arg:"" completion-predictor:"file" help:"The recording."`
	ID      string `arg:"" help:"The player's identifier."`
	Players string `required:"" placeholder:"FILE" completion-predictor:"file" help:"The list of the players, as mm record --players wrote it."`
}

func (recordErase) Help() string {
	return `Of the player's tickets, also with other players, the file keeps when they came and how they ended; "mm
simulate" leaves them out. The list of players loses the player. The command may be repeated, and works on files of this
machine alone: copies of them are yours to find.

Example: mm record erase day.mmrec ada --players day.players`
}

// Run erases the player from both files. The list is last: with it the command can be repeated.
func (c recordErase) Run(t *Terminal) error {
	id, numbers, err := c.numbers()
	if err != nil {
		return fmt.Errorf("%s: %w", c.Players, err)
	}
	if len(numbers) == 0 {
		t.Note("%s has no player of this id: nothing was erased", c.Players)
		return nil
	}
	var tickets int
	err = rewrite(c.File, func(from io.Reader, to io.Writer) error {
		tickets, err = recording.Erase(from, to, id, numbers)
		return err
	})
	if errors.Is(err, recording.ErrOther) {
		return fmt.Errorf("%s: %s is the list of another recording", c.File, c.Players)
	}
	if err != nil {
		return err
	}
	err = rewrite(c.Players, func(from io.Reader, to io.Writer) error {
		w, err := recording.NewPlayersWriter(to, id)
		if err != nil {
			return err
		}
		_, err = recording.ReadPlayers(from, func(number uint64, player string) error {
			if numbers[number] {
				return nil
			}
			return w.Add(number, player)
		})
		return errors.Join(err, w.Close())
	})
	if err != nil {
		return err
	}
	t.Note("erased the player's tickets from %s: %d", c.File, tickets)
	return nil
}

// numbers are the numbers that the player has in the recording: mostly one.
func (c recordErase) numbers() (id recording.ID, numbers map[uint64]bool, err error) {
	file, err := os.Open(c.Players)
	if err != nil {
		return id, nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	numbers = map[uint64]bool{}
	id, err = recording.ReadPlayers(file, func(number uint64, player string) error {
		if player == c.ID {
			numbers[number] = true
		}
		return nil
	})
	return id, numbers, err
}

// rewrite writes a file anew out of what it has. It is as it was, or as it shall be.
func rewrite(name string, write func(from io.Reader, to io.Writer) error) error {
	from, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // it was only read
	to, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer os.Remove(to.Name()) // which the rename has taken away
	if err = errors.Join(write(from, to), to.Sync(), to.Close()); err == nil {
		err = os.Rename(to.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
