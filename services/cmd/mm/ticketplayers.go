package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/cmd/mm/format"
	"matchmaker.dev/services/internal/platform/textfile"
)

// playerFlags are the players of a ticket.
type playerFlags struct {
	For     []listedPlayer `sep:"none" placeholder:"PLAYER[,NAME=NUMBER…]" xor:"players" help:"A player of the ticket, and its numbers. May be repeated. Without it, the owner is the only player."`
	Players string         `placeholder:"FILE" xor:"players" type:"existingfile" completion-predictor:"file" help:"JSON file with the players, as the API takes them, for players with properties. A member values has what rules read, as it is."`
}

// players are the players of the flags, nil when there are none.
func (f playerFlags) players() (players []client.Player, err error) {
	for _, p := range f.For {
		players = append(players, client.Player(p))
	}
	if f.Players == "" {
		return players, nil
	}
	text, err := textfile.Read(f.Players)
	var file []playerInFile
	if err == nil {
		file, err = readList[playerInFile](text)
	}
	for i := 0; i < len(file) && err == nil; i++ {
		players = append(players, file[i].Player)
		err = file[i].add(&players[i])
	}
	if err != nil {
		return nil, fmt.Errorf("--players: %w", err)
	}
	return players, nil
}

// readList reads a list of players. Members that there are not are refused: the service would never see them.
func readList[T any](text []byte) ([]T, error) {
	players, in := []T{}, json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	switch err := in.Decode(&players); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("the file is empty")
	case err != nil:
		return nil, err
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is something behind the list")
	}
	return players, nil
}

// playerInFile is a player as the API takes it, whose values may be given as they are instead of properties.
type playerInFile struct {
	client.Player
	Values client.Values `json:"values"`
}

// add adds the values to the properties of a player.
func (f playerInFile) add(p *client.Player) error {
	properties, err := f.Values.Properties()
	if err != nil {
		return fmt.Errorf("%s: %w", p.ID, err)
	}
	for name, value := range properties {
		if _, twice := p.Properties[name]; twice {
			return fmt.Errorf("%s: %s is among the properties and the values", p.ID, name)
		}
		if p.Properties == nil {
			p.Properties = map[string][]byte{}
		}
		p.Properties[name] = value
	}
	return nil
}

// listedPlayer is PLAYER[,NAME=NUMBER…].
type listedPlayer client.Player

// UnmarshalText is called by the parser.
func (p *listedPlayer) UnmarshalText(text []byte) error {
	id, rest, more := strings.Cut(string(text), ",")
	if id == "" {
		return fmt.Errorf("%q is not PLAYER[,NAME=NUMBER…], such as ada,skill=1200", text)
	}
	p.ID = id
	for more {
		var one string
		one, rest, more = strings.Cut(rest, ",")
		var a attribute
		if err := a.UnmarshalText([]byte(one)); err != nil {
			return err
		}
		if _, twice := p.Attributes[a.name]; twice {
			return fmt.Errorf("%s is given twice", a.name)
		}
		if p.Attributes == nil {
			p.Attributes = map[string]float64{}
		}
		p.Attributes[a.name] = a.value
	}
	return nil
}

// playerLine is a player with the lengths of properties: their values may be long and private.
func playerLine(p client.Player) string {
	line := p.ID
	for _, name := range slices.Sorted(maps.Keys(p.Attributes)) {
		line += " " + name + "=" + number(p.Attributes[name])
	}
	for _, name := range slices.Sorted(maps.Keys(p.Properties)) {
		line += " " + name + ": " + format.Plural(len(p.Properties[name]), "byte")
	}
	return line
}
