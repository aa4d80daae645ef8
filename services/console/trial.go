package console

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/match/difference"
)

// trial is a config that is tried on the last hour, beside the present one.
type trial struct {
	*client.Simulation
	Curves *plot
	Rows   []trialRow
	// Short: much of the hour is not played.
	Short bool
}

type trialRow struct{ Name, Present, Tried string }

// wholeHour is how much of the last hour is as good as the whole.
const wholeHour = 58 * time.Minute

// trialOf reads a trial; nil without an id.
func trialOf(ctx context.Context, v *view, id string) (*trial, error) {
	if id == "" {
		return nil, nil
	}
	s, err := v.API.GetSimulation(ctx, id)
	if err != nil {
		return nil, err
	}
	if s.Alternative == nil {
		return &trial{Simulation: s}, nil
	}
	t := &trial{Simulation: s, Short: s.PlayedUntil.Sub(s.RecordedSince) < wholeHour}
	sides := map[string]*client.SimulatedConfig{"tried": s.Alternative}
	if s.Present != nil {
		sides["present"] = s.Present
	}
	t.Curves = sharePlot("Tickets with a match, by how long they waited", sides)
	for _, n := range s.Numbers() {
		text := func(value *float64) string {
			switch {
			case value == nil:
				return "–"
			case n.Unit == "s":
				return seconds(*value)
			case n.Unit == "%":
				return percent(*value / 100)
			}
			return number(*value)
		}
		t.Rows = append(t.Rows, trialRow{strings.ToUpper(n.Name[:1]) + n.Name[1:], text(n.Present), text(n.Tried)})
	}
	return t, nil
}

// trialPage is a trial with what is tried.
type trialPage struct {
	Trial *trial
	// Text is the config, and ETag the state of the stored one.
	Text, ETag, Edit string
	Diff             []difference.Value
}

func loadTrial(ctx context.Context, v *view, id string) (any, error) {
	t, err := trialOf(ctx, v, id)
	if err != nil {
		return nil, err
	}
	p := &trialPage{Trial: t, ETag: v.QueryParam("etag")}
	p.Edit, p.Text = v.link("config", "id", t.Config, "edit", "true", "try", t.ID, "etag", p.ETag), indented(t.Tried)
	var there bool
	if p.Diff, there, err = v.changedBy(ctx, t.Config, t.Tried); !there {
		p.Edit = v.link("config", "id", t.Config, "new", "true", "try", t.ID)
	}
	return p, err
}

// runTry tries the config of the editor.
func runTry(ctx context.Context, v *view) (string, error) {
	id, text := v.FormValue("id"), json.RawMessage(v.FormValue("text"))
	if id == "" {
		return "", viewerError("id: an identifier of the config is expected.")
	}
	changed, _, err := v.changedBy(ctx, id, text)
	if err != nil {
		return "", err
	}
	type keys struct{ Access, Secret string }
	sent := struct{ Hosting keys }{keys{client.Masked, client.Masked}} // none that is given is kept
	_ = json.Unmarshal(text, &sent)                                    // the service says what is wrong with it
	for _, d := range changed {
		if strings.EqualFold(d.Path, "hosting.Access") && d.After != "" && sent.Hosting.Access != client.Masked ||
			strings.EqualFold(d.Path, "hosting.Secret") && sent.Hosting.Secret != client.Masked {
			return "", viewerError(d.Path + ": put changed keys before you try the config. What is tried does not keep them.")
		}
	}
	s, err := v.API.StartSimulation(ctx, client.StartSimulation{ID: id, Config: text})
	if err != nil {
		return "", err
	}
	return v.link("trial", "id", s.ID, "etag", v.FormValue("etag")), nil
}

// whatIf is a slider over a number of the settings of a config.
type whatIf struct {
	Configs, Settings []choice
	Config, Setting   string
	Value, Now        string
	Min, Max, Step    string
	Trial             *trial
}

func loadWhatIf(ctx context.Context, v *view, configs []string) (*whatIf, error) {
	w := &whatIf{Config: v.chosen("config", configs...)}
	if w.Configs = v.choices("queue", "config", w.Config, configs...); w.Config == "" {
		return w, nil
	}
	stored, err := recall(ctx, v, "config", 4*time.Second, w.Config, (*client.Client).GetConfig)
	if err != nil {
		return w, err
	}
	numbers := numbersOf(stored.Matchmaking.Config)
	names := slices.Sorted(maps.Keys(numbers))
	if w.Setting = v.chosen("setting", names...); !v.QueryParams().Has("setting") && slices.Contains(names, "window") {
		w.Setting = "window"
	}
	if w.Setting == "" {
		return w, nil
	}
	w.Settings = v.choices("queue", "setting", w.Setting, names...)
	w.slide(numbers[w.Setting], v.QueryParam("value"))
	if w.Trial, err = trialOf(ctx, v, v.QueryParam("try")); err != nil {
		v.Problems = append(v.Problems, "What was tried is not known: "+reasonOf(err))
	}
	return w, nil
}

// numbersOf are the numbers of settings, by name, if they are an object.
func numbersOf(settings json.RawMessage) map[string]float64 {
	var all map[string]any
	numbers := map[string]float64{}
	if json.Unmarshal(settings, &all) != nil {
		return numbers
	}
	for name, value := range all {
		if n, ok := value.(float64); ok {
			numbers[name] = n
		}
	}
	return numbers
}

// slide sets the slider: from 0 to four times the number, in steps of its second digit, or of a later one of which the
// number is a multiple: browsers round what is between two steps.
func (w *whatIf) slide(now float64, value string) {
	text := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	size := cmp.Or(math.Abs(now), 2.5)
	step := math.Pow(10, math.Floor(math.Log10(size))-1)
	if now == math.Trunc(now) {
		step = math.Max(step, 1)
	}
	for step > size*1e-9 && math.Abs(now/step-math.Round(now/step)) > 1e-9 {
		step /= 10
	}
	low, high := 0.0, 4*size
	if now < 0 {
		low, high = -high, 0
	}
	w.Now, w.Value, w.Min, w.Max, w.Step = text(now), text(now), text(low), text(high), text(step)
	if n, err := strconv.ParseFloat(value, 64); err == nil && n >= low && n <= high {
		w.Value = text(n)
	}
}

// queueActions are what the page of a queue does.
func queueActions() map[string]action { return map[string]action{"try": {nil, runSlide}} }

// withNumber is a document with another number at a path of its objects.
func withNumber(document json.RawMessage, n float64, path ...string) (json.RawMessage, error) {
	if len(path) == 0 {
		return json.Marshal(n)
	}
	var members map[string]json.RawMessage
	err := json.Unmarshal(document, &members)
	if err == nil {
		members[path[0]], err = withNumber(members[path[0]], n, path[1:]...)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(members)
}

// runSlide tries a config with another number in its settings.
func runSlide(ctx context.Context, v *view) (string, error) {
	id, setting, value := v.FormValue("config"), v.FormValue("setting"), v.FormValue("value")
	stored, err := v.API.GetConfig(ctx, id)
	if err != nil {
		return "", err
	}
	if _, is := numbersOf(stored.Matchmaking.Config)[setting]; !is {
		return "", viewerError("setting: the name of a number in the settings of the config is expected.")
	}
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return "", viewerError("value: a number is expected.")
	}
	text, err := withNumber(stored.JSON, n, "matchmaking", "config", setting)
	if err != nil {
		return "", err
	}
	s, err := v.API.StartSimulation(ctx, client.StartSimulation{ID: id, Config: text})
	if err != nil {
		return "", err
	}
	queue, none := v.FormValue("queue"), ""
	if queue == "" {
		none = "true"
	}
	return v.link("queue", "queue", queue, "none", none, "config", id, "setting", setting, "value", value,
		"try", s.ID), nil
}
