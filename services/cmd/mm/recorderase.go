package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"matchmaker.dev/services/internal/recording"
)

type recordErase struct {
	File    string `arg:"" help:"The recording."`
	ID      string `arg:"" help:"The player's identifier."`
	Players string `required:"" placeholder:"FILE" help:"The list of who the players are, as mm record --players wrote it."`
}

func (recordErase) Help() string {
	return `Of the player's tickets only that they came is left in the file, and what became of them; "mm simulate" leaves
them out. That is so for those who were in a party with the player, too. The list of players loses the player. The
command may be repeated, and works on files of this machine alone: copies of them are yours to find.

Example: mm record erase day.mmrec ada --players day.players`
}

// Run erases the player from both files. The list is last: with it the command can be repeated.
func (c recordErase) Run(s *session) error {
	if c.ID == "" {
		return errEmptyPlayer
	}
	id, numbers, err := c.numbers()
	if err != nil {
		return fmt.Errorf("%s: %w", c.Players, err)
	}
	if len(numbers) == 0 {
		s.note("%s has no player of this id: nothing was erased", c.Players)
		return nil
	}
	var tickets int
	err = replaceFile(c.File, func(from *os.File, to io.Writer) error {
		r, err := recording.NewReader(from)
		if err != nil {
			return err
		}
		defer r.Close()
		if r.ID() != id {
			return fmt.Errorf("%s is the list of another recording", c.Players)
		}
		if _, err := from.Seek(0, io.SeekStart); err != nil {
			return err
		}
		tickets, err = recording.Erase(from, to, numbers)
		return err
	})
	if err != nil {
		return err
	}
	err = replaceFile(c.Players, func(from *os.File, to io.Writer) error {
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
	s.note("erased the player's tickets from %s: %d", c.File, tickets)
	return nil
}

// numbers are those that the player has in the recording: mostly one.
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

// replaceFile writes a file anew out of what it has. It is as it was, or as it shall be.
func replaceFile(name string, write func(from *os.File, to io.Writer) error) (err error) {
	from, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // it was only read
	to, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = to.Close()
			err = fmt.Errorf("%s: %w", name, errors.Join(err, os.Remove(to.Name())))
		}
	}()
	if err := write(from, to); err != nil {
		return err
	}
	if err := errors.Join(to.Sync(), to.Close()); err != nil {
		return err
	}
	return os.Rename(to.Name(), name)
}
