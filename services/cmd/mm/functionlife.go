package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/cmd/mm/format"
)

// formatUpload returns "" for no upload.
func formatUpload(number int64) string {
	if number == 0 {
		return ""
	}
	return strconv.FormatInt(number, 10)
}

// formatShare is a share as a percentage.
func formatShare(share float64) string { return fmt.Sprintf("%.3g%%", 100*share) }

func formatQuantiles(q *client.Quantiles) (p50, p99 string) {
	if q == nil {
		return "", ""
	}
	return formatMillis(q.P50), formatMillis(q.P99)
}

// formatMillis has two digits, or as many as there are before the point.
func formatMillis(ms float64) string {
	if ms >= 10 {
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.2g ms", ms)
}

// addHealth adds how the runs of an upload went lately.
func addHealth(about *grid, h *client.FunctionHealth) {
	if h == nil {
		return
	}
	runs := fmt.Sprintf("%d, %s failed (%d)", h.Runs+h.Unserved, formatShare(h.FailedShare), h.Failed+h.Unserved)
	about.add("runs", runs)
	if p50, p99 := formatQuantiles(h.Milliseconds); p50 != "" {
		about.add("time", fmt.Sprintf("p50 %s, p99 %s", p50, p99))
	}
	if m := h.MemoryBytes; m != nil {
		about.add("memory", fmt.Sprintf("p50 %s, p99 %s", format.MB(int(m.P50)), format.MB(int(m.P99))))
	}
	if h.LastError != "" {
		about.add("last error", fmt.Sprintf("%s, config %s: %s", formatTime(h.LastErrorTime), h.LastErrorConfig,
			h.LastError))
	}
}

// aboutShadow compares the upload in the shadow with the one that runs.
func aboutShadow(f *client.Function) grid {
	s := f.Shadow
	if s == nil {
		return grid{}
	}
	here, there := fmt.Sprintf("upload %d", f.Upload), fmt.Sprintf("upload %d, in the shadow", s.Version)
	g := grid{head: []any{"of runs of both", here, there}}
	g.add("runs", s.Runs, s.Runs)
	g.add("failed", s.CurrentFailed, s.Failed)
	g.add("compared", s.Compared, s.Compared)
	g.add("matches", s.CurrentMatches, s.Matches)
	g.add("the same matches", s.Common, s.Common)
	g.add("mean score", mean(s.CurrentScore, s.CurrentMatches), mean(s.Score, s.Matches))
	if f.Health != nil && s.Health != nil {
		p50, p99 := formatQuantiles(f.Health.Milliseconds)
		shadow50, shadow99 := formatQuantiles(s.Health.Milliseconds)
		g.add("time p50", p50, shadow50)
		g.add("time p99", p99, shadow99)
	}
	g.add("skipped", "", s.Skipped)
	return g
}

func mean(sum float64, n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%.4g", sum/float64(n))
}

type functionShadow struct {
	Name    string `arg:"" completion-predictor:"function" help:"The function's name."`
	Version int64  `arg:"" optional:"" completion-predictor:"version" help:"The version to run in the shadow, see \"mm function versions\"; none without it."`
}

// Run starts or ends the shadow.
func (c functionShadow) Run(ctx context.Context, s *session, api developerAPI) error {
	return s.showFunction(api.ShadowFunction(ctx, c.Name, c.Version))
}

type functionPromote struct {
	Name    string `arg:"" completion-predictor:"function" help:"The function's name."`
	Version int64  `arg:"" optional:"" completion-predictor:"version" help:"The version that is in the shadow, or the canary; default: whichever there is."`
	Wait    bool   `default:"true" negatable:"" help:"Wait until the function runs, for at most 30 seconds."`
}

// Run promotes the upload that is in the shadow now, or the canary, and waits until it runs.
func (c functionPromote) Run(ctx context.Context, s *session, api developerAPI) error {
	f, err := api.GetFunction(ctx, c.Name)
	if err != nil {
		return err
	}
	number := c.Version
	switch {
	case number != 0:
	case f.Shadow == nil && f.Canary == nil:
		return errors.New("no upload of the function runs in the shadow, or as a canary: see \"mm function put --shadow\"")
	case f.Shadow != nil && f.Canary != nil:
		return fmt.Errorf("upload %d runs in the shadow and upload %d is a canary: name the one", f.Shadow.Version,
			f.Canary.Version)
	case f.Shadow != nil:
		number = f.Shadow.Version
	default:
		number = f.Canary.Version
	}
	if f, err = api.PromoteFunction(ctx, c.Name, number); err != nil {
		return err
	}
	return s.showStart(ctx, api.Client, upload{f.Name, f.MD5, c.Wait, fmt.Sprintf("at version %d", number)})
}

type functionReturn struct {
	Name      string `arg:"" completion-predictor:"function" help:"The function's name."`
	Automatic string `arg:"" enum:"on,off" help:"Whether it goes back by itself: on or off."`
}

// Run sets the switch.
func (c functionReturn) Run(ctx context.Context, s *session, api developerAPI) error {
	return s.showFunction(api.SetFunctionReturn(ctx, c.Name, c.Automatic == "on"))
}
