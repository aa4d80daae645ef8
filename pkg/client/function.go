package client

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// States of a function.
const (
	Running    = "Running"
	Pending    = "Pending"
	Failed     = "Failed"
	NotRunning = "Not Running"
	Unknown    = "Unknown" // the state cannot be told
)

// GetFunctionLog reads what the function's instances logged, by instance name. window is how far back, in whole
// seconds; 0 leaves it to the service, which then takes half an hour. Status 404: no such function.
func (c *Client) GetFunctionLog(ctx context.Context, name string, window time.Duration) (map[string]string, error) {
	logs, _, err := c.GetFunctionLogAfter(ctx, name, window, "")
	return logs, err
}

// GetFunctionLogAfter is GetFunctionLog for programs that follow the log: it reads the lines behind a position, and
// returns the position of the next lines. With the position of the call before, every line comes once. At first the
// position is empty; with a position and no window it does not matter how long ago the lines were written.
func (c *Client) GetFunctionLogAfter(ctx context.Context, name string, window time.Duration,
	position string) (logs map[string]string, next string, err error) {
	var log struct {
		Logs map[string]string `json:"logs"`
	}
	next, err = c.readLog(ctx, name, window, position, false, &log)
	return log.Logs, next, err
}

// GetFunctionLogLines is GetFunctionLogAfter line by line, the earliest first.
func (c *Client) GetFunctionLogLines(ctx context.Context, name string, window time.Duration,
	position string) (lines []LogLine, next string, err error) {
	var log struct {
		Lines []LogLine `json:"lines"`
	}
	next, err = c.readLog(ctx, name, window, position, true, &log)
	return log.Lines, next, err
}

func (c *Client) readLog(ctx context.Context, name string, window time.Duration, position string, lines bool,
	log any) (next string, err error) {
	r, err := functionRequest(http.MethodGet, name, "/log")
	if err != nil {
		return "", err
	}
	r.query = parameters(map[string]any{"after": position, "lines": lines})
	if window != 0 {
		r.query.Set("seconds", strconv.FormatInt(int64(window/time.Second), 10))
	}
	header, err := c.do(ctx, r, log)
	return header.Get("X-Log-Position"), err
}

// functionRequest is a request about one function, of a method that may be repeated.
func functionRequest(method, name, below string) (*request, error) {
	segment, err := segment("function name", name)
	if err != nil {
		return nil, err
	}
	return &request{method: method, path: "v1/functions/" + segment + below, repeatable: true}, nil
}
