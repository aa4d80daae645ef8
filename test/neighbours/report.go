package main

import (
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"matchmaker.dev/services/test/launch"
)

// report is the record of a run.
type report struct {
	*options `json:"-"`
	Started  time.Time
	Load     string
	Results  []*result
}

// result is what an attack did.
type result struct {
	Name, Says string
	Load       string
	Held       time.Duration
	Victims    []suffering
	// Rest is the highest memory during the baseline, Attack during the attack, After after it.
	Rest, Attack, After    memory
	Upload, UploadBaseline time.Duration
	// Cores are the processors that each part used, during the baseline and during the attack.
	CoresAtRest, Cores map[string]float64
	UploadsFailed      int
	UploadFault        string   `json:",omitempty"`
	Died               []string `json:",omitempty"`
	// Servers are the servers of its fleet that the project victim got, Strangers what other projects got of it.
	Servers   int            `json:",omitempty"`
	Strangers map[string]int `json:",omitempty"`
	// Notes say what the service refused.
	Notes  []string `json:",omitempty"`
	Missed []string `json:",omitempty"`
}

// suffering is what one victim saw.
type suffering struct {
	Victim           string
	Baseline, Attack phase
	Back             time.Duration
	Recovered        bool
}

func (r *report) missed() bool {
	for _, result := range r.Results {
		if len(result.Missed) > 0 {
			return true
		}
	}
	return false
}

// print prints the table.
func (r *report) print(out io.Writer) {
	t := table.NewWriter()
	t.SetOutputMirror(out)
	t.SetStyle(table.StyleLight)
	t.SetTitle("neighbours: each attack held for %s; p50 and p95 of victims from POST to assignment, as multiples\n"+
		"of the baseline right before; %d pairs a second each; %d CPUs, load %s at the start, %s at the end.\n"+
		"! marks a missed goal: p50 ≤ %d, p95 ≤ %d, nobody lost, runner ≤ %d MiB + index, upload ≤ %s, back ≤ %s",
		r.For, r.Pairs, runtime.NumCPU(), r.Load, launch.Load(), mostP50, mostP95, mostMemory, mostUpload, mostBack)
	t.AppendHeader(table.Row{"attack", "base ms", "project p50", "p95", "config p50", "p95", "lost", "runner MiB",
		"instances", "index", "largest other", "modules MiB", "upload s", "back s"})
	for _, result := range r.Results {
		t.AppendRow(result.row())
	}
	t.Render()
	for _, result := range r.Results {
		for _, note := range result.Notes {
			fmt.Fprintf(out, "%s: %s\n", result.Name, note)
		}
	}
}

func (r *result) row() table.Row {
	row := table.Row{r.Name, fmt.Sprintf("%.0f/%.0f", milliseconds(r.Victims[0].Baseline.P50),
		milliseconds(r.Victims[0].Baseline.P95))}
	lost, back, recovered := 0, time.Duration(0), true
	for _, v := range r.Victims {
		p50, p95 := v.Attack.times(v.Baseline)
		row = append(row, mark(fmt.Sprintf("%.1f", p50), p50 <= mostP50), mark(fmt.Sprintf("%.1f", p95), p95 <= mostP95))
		lost, back, recovered = lost+v.Attack.Lost, max(back, v.Back), recovered && v.Recovered
	}
	most, name := 0.0, ""
	for part, held := range r.Attack.Parts {
		if held > most {
			most, name = held, part
		}
	}
	index := "?"
	if r.Attack.Index > 0 {
		index = fmt.Sprintf("%.0f", r.Attack.Index)
	}
	backs := fmt.Sprintf("%.1f", back.Seconds())
	if !recovered {
		backs = "> " + backs
	}
	return append(row, mark(fmt.Sprint(lost), lost == 0),
		mark(fmt.Sprintf("%.0f", r.Attack.Runner), r.Attack.Runner <= mostMemory+r.Attack.Index),
		fmt.Sprintf("%.0f", r.Attack.Instances), index, fmt.Sprintf("%s %.0f", name, most),
		fmt.Sprintf("%.0f", r.Attack.Modules),
		mark(fmt.Sprintf("%.1f", r.Upload.Seconds()), r.Upload <= mostUpload && r.UploadsFailed == 0),
		mark(backs, recovered && back <= mostBack))
}

// mark marks a cell that misses its goal.
func mark(cell string, ok bool) string {
	if ok {
		return cell
	}
	return cell + " !"
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
