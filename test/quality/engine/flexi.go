package engine

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"matchmaker.dev/services/lab/population"
	"matchmaker.dev/services/test/quality/world"
)

// flexi is the Go module github.com/moepig/flexi on FlexMatch's file, as it is. The module proxy does not serve it, so
// it is played from a checkout, by a program of its own.
type flexi struct {
	game    *world.Game
	program *exec.Cmd
	in      io.WriteCloser
	encode  *json.Encoder
	decode  *json.Decoder
	rules   string
	number  int
	numbers map[*world.Ticket]int
	known   map[int]*world.Ticket
}

//go:embed flexi/main.go.txt
var flexiSource []byte

// flexiProgram plays flexi; it is empty before BuildFlexi.
var flexiProgram string

// BuildFlexi builds the program that plays flexi, from a checkout, in an empty folder. Then there is the engine Flexi.
func BuildFlexi(ctx context.Context, checkout, folder string) error {
	checkout, err := filepath.Abs(checkout)
	if err != nil {
		return err
	}
	module := fmt.Sprintf("module adapter\n\ngo 1.26\n\nrequire github.com/moepig/flexi v0.0.0\n\n"+
		"replace github.com/moepig/flexi => %q\n", checkout)
	for name, text := range map[string][]byte{"go.mod": []byte(module), "main.go": flexiSource} {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			return err
		}
	}
	build := exec.CommandContext(ctx, "go", "build", "-mod=mod", "-o", "adapter", ".")
	build.Dir, build.Env = folder, append(os.Environ(), "GOWORK=off")
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("flexi in %s cannot be built: %w: %s", checkout, err, output)
	}
	flexiProgram = filepath.Join(folder, "adapter")
	return nil
}

func newFlexi(g *world.Game) (Engine, error) {
	rules, err := os.CreateTemp("", "flexi-*.json")
	if err != nil {
		return nil, err
	}
	f := &flexi{game: g, rules: rules.Name(), numbers: map[*world.Ticket]int{}, known: map[int]*world.Ticket{}}
	if _, err := rules.WriteString(world.FlexMatch.File(g)); err != nil {
		return nil, err
	}
	if err := rules.Close(); err != nil {
		return nil, err
	}
	f.program = exec.Command(flexiProgram, f.rules)
	f.program.Stderr = os.Stderr
	if f.in, err = f.program.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := f.program.StdoutPipe()
	if err != nil {
		return nil, err
	}
	f.encode, f.decode = json.NewEncoder(f.in), json.NewDecoder(out)
	return f, f.program.Start()
}

// Close ends the program.
func (f *flexi) Close() error {
	err := f.in.Close()
	if wait := f.program.Wait(); err == nil {
		err = wait
	}
	if remove := os.Remove(f.rules); err == nil {
		err = remove
	}
	return err
}

// Peak is the most memory that the program had, in KiB, as Linux says it; it is known after Close.
func (f *flexi) Peak() int64 {
	if usage, ok := f.program.ProcessState.SysUsage().(*syscall.Rusage); ok {
		return usage.Maxrss
	}
	return 0
}

// These are what the program reads.
type (
	flexiPlayer struct {
		Numbers   map[string]float64
		Latencies map[string]int
	}
	flexiTicket struct {
		Number  int
		Arrives float64
		Players []flexiPlayer
	}
	flexiRequest struct {
		Now  float64
		Come []flexiTicket
		Left []int
	}
)

func (f *flexi) Match(now float64, waiting []*world.Ticket) ([]Match, error) {
	request := flexiRequest{Now: now}
	here := make(map[int]int, len(waiting))
	for at, t := range waiting {
		number, ok := f.numbers[t]
		if !ok {
			f.number++
			number = f.number
			f.numbers[t], f.known[number] = number, t
			request.Come = append(request.Come, f.ticket(number, t))
		}
		here[number] = at
	}
	for number := range f.known {
		if _, ok := here[number]; !ok {
			request.Left = append(request.Left, number)
			f.forget(number)
		}
	}
	if err := f.encode.Encode(request); err != nil {
		return nil, err
	}
	var found [][][]int
	if err := f.decode.Decode(&found); err != nil {
		return nil, fmt.Errorf("flexi: %w", err)
	}
	literal := newFlexMatch(f.game, 0)
	var matches []Match
	for _, teams := range found {
		d := newDraft(f.game, now, waiting)
		d.teams = d.teams[:0]
		for _, numbers := range teams {
			var team []int
			for _, number := range numbers {
				team = append(team, here[number])
				f.forget(number)
			}
			d.teams, d.chosen = append(d.teams, team), append(d.chosen, team...)
		}
		matches = append(matches, Match{Teams: d.teams, Region: literal.region(d)}) // flexi names none
	}
	return matches, nil
}

func (f *flexi) forget(number int) {
	delete(f.numbers, f.known[number])
	delete(f.known, number)
}

func (f *flexi) ticket(number int, t *world.Ticket) flexiTicket {
	one := flexiTicket{Number: number, Arrives: t.Arrives}
	for i := range t.Players {
		p := &t.Players[i]
		of := flexiPlayer{Numbers: map[string]float64{"skill": p.Skill}, Latencies: map[string]int{}}
		for role := range f.game.Roles {
			of.Numbers[f.game.Roles[role].Name] = 0
		}
		if f.game.Roles != nil {
			of.Numbers[f.game.Roles[p.Role].Name] = 1
		}
		for region, name := range population.RegionNames() {
			of.Latencies[name] = int(math.Round(p.Ping[region]))
		}
		one.Players = append(one.Players, of)
	}
	return one
}
