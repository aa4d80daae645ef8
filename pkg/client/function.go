package client

import (
	"context"
	"net/http"
	"net/url"
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

// Function is a match function that was uploaded.
type Function struct {
	Name    string         `json:"name"`
	MD5     string         `json:"md5Hash"` // of the uploaded file, hexadecimal
	Created time.Time      `json:"created"`
	Updated time.Time      `json:"updated"` // equals Created until it is uploaded again
	Status  FunctionStatus `json:"status"`

	Upload   int64           `json:"upload,omitzero"`         // that is to run; 0 if the service does not say
	LastGood int64           `json:"lastGoodUpload,omitzero"` // of the others, the one that worked last; 0 if none did
	Health   *FunctionHealth `json:"health,omitzero"`         // of Upload; nil without runs
	// ReturnsUntil is until when the function goes back to LastGood by itself; zero if it does not.
	ReturnsUntil time.Time `json:"returnsUntil,omitzero"`
	// NoReturn is set if the studio does not want that: see [Client.SetFunctionReturn].
	NoReturn bool `json:"noReturn,omitzero"`
	// Returned is the last time that it did; nil if it did not since the last upload.
	Returned *FunctionReturn `json:"returned,omitzero"`
	// Shadow is the upload that runs in the shadow of Upload; nil if there is none.
	Shadow *FunctionShadow `json:"shadow,omitzero"`
	// Canary is the upload that a part of the runs get, nil if there is none. CanaryEnded is how the last one ended; nil
	// if there was none before it.
	Canary      *FunctionCanary    `json:"canary,omitzero"`
	CanaryEnded *FunctionCanaryEnd `json:"canaryEnded,omitzero"`
}

// FunctionHealth says how the runs of an upload went in the last five minutes.
type FunctionHealth struct {
	Runs        int64   `json:"runs"`
	Failed      int64   `json:"failed"`
	Unserved    int64   `json:"unserved"`    // more that got no instance, since those of the upload fail
	FailedShare float64 `json:"failedShare"` // of all of these, from 0 to 1

	LastError       string    `json:"lastError,omitzero"`
	LastErrorTime   time.Time `json:"lastErrorTime,omitzero"`
	LastErrorConfig string    `json:"lastErrorConfig,omitzero"`

	Milliseconds *Quantiles `json:"milliseconds,omitzero"`
	MemoryBytes  *Quantiles `json:"memoryBytes,omitzero"`
}

// Quantiles are values that half of all do not exceed, and all but one of a hundred. They are too high by a fifth at
// most.
type Quantiles struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

// FunctionReturn says why a function went back to an earlier upload by itself: Failed of Runs runs of From failed, of
// which Repeated were repeated on To, and Passed did not fail there.
type FunctionReturn struct {
	Time     time.Time `json:"time"`
	From     int64     `json:"from"`
	To       int64     `json:"to"`
	Failed   int64     `json:"failed"`
	Runs     int64     `json:"runs"`
	Repeated int64     `json:"repeated"`
	Passed   int64     `json:"passed"`
	Error    string    `json:"error"`
}

// FunctionShadow compares an upload with the one in whose shadow it runs.
type FunctionShadow struct {
	Version int64           `json:"version"`
	Health  *FunctionHealth `json:"health,omitzero"`

	Runs          int64 `json:"runs"`    // that both ended
	Skipped       int64 `json:"skipped"` // that the shadow did not get
	Failed        int64 `json:"failed"`  // of Runs in the shadow
	CurrentFailed int64 `json:"currentFailed"`

	Compared       int64   `json:"compared"` // of Runs, those with the same tickets; the rest is of these
	Matches        int64   `json:"matches"`
	CurrentMatches int64   `json:"currentMatches"`
	Common         int64   `json:"common"` // matches of the same tickets
	Score          float64 `json:"score"`  // of all matches
	CurrentScore   float64 `json:"currentScore"`
}

// FunctionCanary is an upload that runs for some configs or queues, or in some blocks of time.
type FunctionCanary struct {
	Version      int64    `json:"version"`
	Configs      []string `json:"configs,omitzero"`
	Queues       []string `json:"queues,omitzero"`
	BlockSeconds int64    `json:"blockSeconds,omitzero"`
	Percent      int      `json:"percent,omitzero"` // of the blocks

	Began   time.Time       `json:"began"`
	Changed time.Time       `json:"changed"` // since when these get it
	Until   time.Time       `json:"until"`   // it ends then, unless it runs for all
	Runs    int64           `json:"runs"`    // since it began
	Failed  int64           `json:"failed"`
	Health  *FunctionHealth `json:"health,omitzero"`
	// Report compares it with the other upload. GetFunction has it, and no other call.
	Report []CanaryQuantity `json:"report,omitzero"`
}

// CanaryQuantity compares a canary with the upload that runs for the others: their means, of how many matches each is,
// and the difference.
type CanaryQuantity struct {
	Name      string  `json:"name"` // failures (of runs), matches (a minute), wait, or spread, gap or measure with a name
	Canary    float64 `json:"canary"`
	Current   float64 `json:"current"`
	CanaryOf  int64   `json:"canaryOf"` // runs for failures
	CurrentOf int64   `json:"currentOf"`
	// Difference is how much more the canary has; nil if too little is known.
	Difference *CanaryDifference `json:"difference,omitzero"`
}

// CanaryDifference is a difference, which lies between Low and High with a confidence of 95 %.
type CanaryDifference struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// FunctionCanaryEnd is how a canary ended.
type FunctionCanaryEnd struct {
	Version  int64     `json:"version"`
	Time     time.Time `json:"time"`
	Promoted bool      `json:"promoted"` // it runs for all since
	Reason   string    `json:"reason"`
}

// CanaryRequest says who gets a canary: Configs, Queues, or Percent of the blocks of time. What is absent has its
// default.
type CanaryRequest struct {
	Version         int64    `json:"version"`
	Configs         []string `json:"configs,omitzero"`
	Queues          []string `json:"queues,omitzero"`
	BlockSeconds    int64    `json:"blockSeconds,omitzero"`
	Percent         int      `json:"percent,omitzero"`
	DeadlineSeconds int64    `json:"deadlineSeconds,omitzero"`
}

// LogLine is a line of a function's log. Lines that a runner of an earlier version sent have no upload and no config.
type LogLine struct {
	Time     time.Time `json:"time"`
	Upload   int64     `json:"upload,omitzero"`
	Config   string    `json:"config"` // of the run under way, or of the one before
	Instance string    `json:"instance"`
	Text     string    `json:"text"`
}

// FunctionStatus says whether a function can run.
type FunctionStatus struct {
	State     string             `json:"state"` // Running, Pending, Failed, NotRunning or Unknown
	Instances []FunctionInstance `json:"instances"`
}

// FunctionInstance is one deployed copy of a function.
type FunctionInstance struct {
	Name  string `json:"name"`
	State string `json:"state"` // Running, Terminated or Waiting
}

// FunctionRestart is the answer to a restart, for one function.
type FunctionRestart struct {
	Name  string `json:"name"`
	State string `json:"state"` // Pending or Failed
}

// FunctionVersion is an upload of a function that the service keeps.
type FunctionVersion struct {
	Version        int64     `json:"version"` // counts the uploads, from 1
	Current        bool      `json:"current"` // it is the one that is to run
	MD5            string    `json:"md5Hash"` // of the uploaded file, hexadecimal
	Implementation string    `json:"implementation"`
	Size           int64     `json:"size"` // of the module, in bytes
	Uploaded       time.Time `json:"uploaded"`
	By             string    `json:"by,omitzero"` // the subject of the token
	Note           string    `json:"note,omitzero"`
	Worked         bool      `json:"worked"`          // runs of it succeeded while it was the one that ran
	Shadow         bool      `json:"shadow,omitzero"` // it runs in the shadow of the current one
	Canary         bool      `json:"canary,omitzero"` // a part of the runs get it
	// Health is how its runs went lately, also those for configs that name it; nil without runs.
	Health *FunctionHealth `json:"health,omitzero"`
}

// GetFunctions lists the project's functions.
func (c *Client) GetFunctions(ctx context.Context) ([]Function, error) {
	var list struct {
		Functions []Function `json:"functions"`
	}
	_, err := c.do(ctx, &request{method: http.MethodGet, path: "v1/functions", repeatable: true}, &list)
	return list.Functions, err
}

// GetFunction reads one function. Its status is 404 when there is none of that name.
func (c *Client) GetFunction(ctx context.Context, name string) (*Function, error) {
	r, err := functionRequest(http.MethodGet, name, "")
	if err != nil {
		return nil, err
	}
	f := new(Function)
	if _, err := c.do(ctx, r, f); err != nil {
		return nil, err
	}
	return f, nil
}

// GetFunctionLog reads what the function's instances logged, by instance name. window is how far back, in whole
// seconds; 0 leaves it to the service, which then takes half an hour. Status 404: no such function.
func (c *Client) GetFunctionLog(ctx context.Context, name string, window time.Duration) (map[string]string, error) {
	logs, _, err := c.GetFunctionLogAfter(ctx, name, window, "")
	return logs, err
}

// GetFunctionLogAfter is GetFunctionLog for who follows the log: it reads the lines behind a position, and returns the
// one behind which the next lines will be. With that of the call before, every line comes once. At first the position
// is empty; with a position and no window it does not matter how long ago the lines were written.
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
	r.query = url.Values{}
	if window != 0 {
		r.query.Set("seconds", strconv.FormatInt(int64(window/time.Second), 10))
	}
	if position != "" {
		r.query.Set("after", position)
	}
	if lines {
		r.query.Set("lines", "true")
	}
	header, err := c.do(ctx, r, log)
	return header.Get("X-Log-Position"), err
}

// DeleteFunction removes a function. Removing one that is not there is no error.
func (c *Client) DeleteFunction(ctx context.Context, name string) error {
	r, err := functionRequest(http.MethodDelete, name, "")
	if err != nil {
		return err
	}
	r.removes = true
	_, err = c.do(ctx, r, nil)
	return err
}

// RestartFunctions schedules a restart of functions, and says for each whether it will happen. Its status is 404 when a
// name is unknown.
func (c *Client) RestartFunctions(ctx context.Context, names ...string) ([]FunctionRestart, error) {
	body, err := encode(map[string][]string{"functions": names})
	if err != nil {
		return nil, err
	}
	var result struct {
		Functions []FunctionRestart `json:"functions"`
	}
	_, err = c.do(ctx, &request{method: http.MethodPost, path: "v1/functions/actions/restart", body: body}, &result)
	return result.Functions, err
}

// GetFunctionVersions lists the uploads of a function that it can go back to, the newest first. Its status is 404 when
// there is no such function.
func (c *Client) GetFunctionVersions(ctx context.Context, name string) ([]FunctionVersion, error) {
	r, err := functionRequest(http.MethodGet, name, "/versions")
	if err != nil {
		return nil, err
	}
	var list struct {
		Versions []FunctionVersion `json:"versions"`
	}
	_, err = c.do(ctx, r, &list)
	return list.Versions, err
}

// RollbackFunction makes a version that is kept the one that runs; the one before goes on until it does. Status 404: no
// such function or version. Status 409: its module is lost.
func (c *Client) RollbackFunction(ctx context.Context, name string, version int64) (*Function, error) {
	return c.actOnFunction(ctx, name, "rollback", map[string]int64{"version": version})
}

// ShadowFunction lets a version that is kept run in the shadow of the current one, or none if version is 0. Status 404:
// no such function or version.
func (c *Client) ShadowFunction(ctx context.Context, name string, version int64) (*Function, error) {
	return c.actOnFunction(ctx, name, "shadow", map[string]int64{"version": version})
}

// CanaryFunction lets a version that is kept run for a part of the configs, or of the time. For the one that is the
// canary already it changes that part, and for the version 0 it ends the canary. Status 409: another version is the
// canary.
func (c *Client) CanaryFunction(ctx context.Context, name string, r CanaryRequest) (*Function, error) {
	return c.actOnFunction(ctx, name, "canary", r)
}

// PromoteFunction makes the version in the shadow, or the canary, the one that runs. Status 409: another one is, or
// none.
func (c *Client) PromoteFunction(ctx context.Context, name string, version int64) (*Function, error) {
	return c.actOnFunction(ctx, name, "promote", map[string]int64{"version": version})
}

// SetFunctionReturn says whether the function goes back by itself when runs of a new upload fail that those of the last
// good one pass.
func (c *Client) SetFunctionReturn(ctx context.Context, name string, automatic bool) (*Function, error) {
	return c.actOnFunction(ctx, name, "return", map[string]bool{"automatic": automatic})
}

func (c *Client) actOnFunction(ctx context.Context, name, action string, body any) (*Function, error) {
	r, err := functionRequest(http.MethodPost, name, "/actions/"+action)
	if err != nil {
		return nil, err
	}
	r.repeatable = false
	if r.body, err = encode(body); err != nil {
		return nil, err
	}
	f := new(Function)
	if _, err := c.do(ctx, r, f); err != nil {
		return nil, err
	}
	return f, nil
}

// functionRequest is a request about one function, of a method that may be repeated.
func functionRequest(method, name, below string) (*request, error) {
	segment, err := segment("function name", name)
	if err != nil {
		return nil, err
	}
	return &request{method: method, path: "v1/functions/" + segment + below, repeatable: true}, nil
}
