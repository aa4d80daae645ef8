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
	r, err := functionRequest(http.MethodGet, name, "/log")
	if err != nil {
		return nil, "", err
	}
	r.query = url.Values{}
	if window != 0 {
		r.query.Set("seconds", strconv.FormatInt(int64(window/time.Second), 10))
	}
	if position != "" {
		r.query.Set("after", position)
	}
	var log struct {
		Logs map[string]string `json:"logs"`
	}
	header, err := c.do(ctx, r, &log)
	return log.Logs, header.Get("X-Log-Position"), err
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
	r, err := functionRequest(http.MethodPost, name, "/actions/rollback")
	if err != nil {
		return nil, err
	}
	r.repeatable = false
	if r.body, err = encode(map[string]int64{"version": version}); err != nil {
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
