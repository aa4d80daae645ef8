package console

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"io/fs"
	"math"
	"net/http"
	"net/url"
	"path"
	"reflect"
	"strconv"
	"strings"
	"time"

	"matchmaker.dev/pkg/client"
)

// pageSet has the templates of each page, by its name.
type pageSet map[string]*template.Template

// parsePages reads the folder page: layout.html and parts.html, and a file for each page.
func parsePages() (pageSet, error) {
	base, err := template.New("").Funcs(functions()).ParseFS(files, "page/layout.html", "page/parts.html")
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(files, "page/*.html")
	if err != nil {
		return nil, err
	}
	all := pageSet{}
	for _, file := range names {
		name := strings.TrimSuffix(path.Base(file), ".html")
		one, err := base.Clone()
		if err != nil {
			return nil, err
		}
		if all[name], err = one.ParseFS(files, file); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// frame is what the layout shows around a page.
type frame struct {
	Title, Page, Section string
	Live                 bool
	// Failure is shown instead of the page, and Done is what an action did.
	Failure, Done string
	Data          any
	// The rest is of the view.
	Project, Environment, CSRF, Subject, JSON, Query string
	Production, Local                                bool
	Sections                                         []choice
	Problems                                         []string
}

// Link is the address of a page.
func (f frame) Link(page string, values ...string) string { return address(f.Project, page, values...) }

// With is what a part of a page gets: the frame, and something by a name.
func (f frame) With(name string, value any) map[string]any {
	return map[string]any{"Frame": f, name: value}
}

// Form is a button of a function's page.
func (f frame) Form(do, name string, version any, label, class string) map[string]any {
	return map[string]any{"Frame": f, "Do": do, "Name": name, "Version": version, "Label": label, "Class": class}
}

func (v *view) frame(f frame) frame {
	f.Project, f.Environment, f.Production = v.Project, v.Settings.Environment, v.Settings.Production
	f.Local, f.Problems, f.Done, f.Query = v.Mint != nil, v.Problems, v.QueryParam("done"), v.QueryParam("q")
	f.CSRF, f.Subject = v.sessions.csrf(v.viewer), claimsOf(v.viewer.Token).Subject
	q := url.Values{"format": {"json"}}
	for name, values := range v.QueryParams() {
		if name != "done" {
			q[name] = values
		}
	}
	f.JSON = "?" + q.Encode()
	for _, title := range []string{"Now", "Configs", "Functions", "Fleets", "Quality", "Audit"} {
		section := strings.ToLower(title)
		f.Sections = append(f.Sections, choice{title, v.link(section), section == f.Section})
	}
	return f
}

// render answers a page.
func (v *view) render(status int, f frame) error {
	set, ok := v.pages[f.Page]
	if !ok {
		set = v.pages["layout"]
	}
	var b bytes.Buffer
	if err := set.ExecuteTemplate(&b, "layout", v.frame(f)); err != nil {
		return err
	}
	return v.HTMLBlob(status, b.Bytes())
}

// refused reports whether an error says that the viewer may not read.
func refused(err error) bool {
	status := client.Status(err)
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// functions are what templates call.
func functions() template.FuncMap {
	return template.FuncMap{
		"number": number, "seconds": seconds, "short": short, "percent": percent, "bytes": size,
		"join": strings.Join, "lower": strings.ToLower,
		"quote": func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }, // for a shell
		"iso":   func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) },
		"utc":   func(t time.Time) string { return t.UTC().Format("2 Jan 15:04:05") },
		"at":    func(ms int64) time.Time { return time.UnixMilli(ms) },
		"plural": func(n any, word string) string {
			if strings.HasSuffix(word, "ch") {
				return plural(n, word, word+"es")
			}
			return plural(n, word, word+"s")
		},
		"event": eventText, "filter": filterSpan,
		"queue": func(name string) string { return cmp.Or(name, "no queue") },
	}
}

// number writes a number with three significant digits, or all of a whole number, in groups of three.
func number(n any) string {
	value := reflect.Indirect(reflect.ValueOf(n))
	f, err := strconv.ParseFloat(fmt.Sprint(value), 64)
	switch size := math.Abs(f); {
	case !value.IsValid() || math.IsNaN(f):
		return "–"
	case err != nil:
		return fmt.Sprint(n)
	case size < 1e15 && (f == math.Trunc(f) || size >= 100):
		text := strconv.FormatFloat(math.Abs(math.Round(f)), 'f', 0, 64)
		for i := len(text) - 3; i > 0; i -= 3 {
			text = text[:i] + "\u202f" + text[i:]
		}
		if f < 0 {
			text = "−" + text
		}
		return text
	}
	text := strconv.FormatFloat(f, 'g', 3, 64)
	if strings.Contains(text, "e-") {
		text = strconv.FormatFloat(f, 'f', 4, 64)
	}
	return strings.Replace(text, "-", "−", 1)
}

// seconds writes a length of time.
func seconds(s float64) string {
	switch d := time.Duration(s * float64(time.Second)); {
	case math.IsNaN(s):
		return "–"
	case s == 0:
		return "0 s"
	case s < 1:
		return strconv.Itoa(max(1, int(s*1000))) + " ms"
	case s < 100:
		return number(math.Round(s*10)/10) + " s"
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	}
}

// short is enough of an id to tell it from others nearby.
func short(id string) string {
	if len(id) == 36 {
		return id[:8] + "…" + id[30:]
	}
	return id
}

func percent(share float64) string { return number(math.Round(share*1000)/10) + " %" }

func size(n any) string {
	f, err := strconv.ParseFloat(fmt.Sprint(n), 64)
	for _, unit := range []string{"B", "KiB", "MiB"} {
		if err == nil && f < 1024 {
			return number(math.Round(f*10)/10) + " " + unit
		}
		f /= 1024
	}
	return number(f) + " GiB"
}

// eventText says what an event is.
func eventText(e client.Event) string {
	text := cmp.Or(map[string]string{
		"created": "Created, and waits", "claimed": "In a match", "allocating": "A server is asked for",
		"assigned": "Has its connection", "failed": "Got no match", "released": "Waits again", "cancelled": "Deleted",
		"expired": "Ended", "returned": "The server was given back", "gap": "Events are missing here",
		"full": "Hosting has no server", "unreturned": "The server could not be given back",
		"unserved": "No config serves the queue any more", "accepted": "A player accepted", "declined": "A player declined",
		"function": "The function changed", "result": "Result",
	}[e.Kind], e.Kind)
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	return text
}

// filterSpan draws the bounds of a filter, and where the ticket is.
func filterSpan(f client.FilterExplanation) span {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range []*float64{f.Min, f.Max, f.Value} {
		if v != nil {
			low, high = min(low, *v), max(high, *v)
		}
	}
	room := max((high-low)*0.15, 1e-9)
	low, high = low-room, high+room
	or := func(v *float64, otherwise float64) float64 {
		if v != nil {
			return *v
		}
		return otherwise
	}
	s := spanOf(or(f.Min, low), or(f.Value, low), or(f.Max, high), low, high)
	if f.Value == nil {
		s.Mid = ""
	}
	return s
}
