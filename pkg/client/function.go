package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
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

// PutFunction uploads a match function: an archive (.zip or .tar.gz) or one WebAssembly module (.wasm), told apart by
// their first bytes. implementation names the module to run when the archive holds several, and may be empty otherwise.
// Status 400 says what is wrong with the name or the file.
//
// An archive that is an [io.ReaderAt] and [io.Seeker], as files are, is sent from where it stands; any other is read
// into memory first. The function runs only some time after the upload: see [Client.GetFunction].
func (c *Client) PutFunction(ctx context.Context, name, implementation string, archive io.Reader) error {
	return c.UploadFunction(ctx, name, FunctionUpload{Implementation: implementation}, archive)
}

// FunctionUpload is what an upload may say besides its archive.
type FunctionUpload struct {
	// Implementation names the module to run when the archive holds several.
	Implementation string
	// Note is a text for people, of up to 256 bytes.
	Note string
	// Shadow lets the upload run in the shadow of the one that runs: it gets the same runs, and what it proposes is only
	// compared. See Function.Shadow and [Client.PromoteFunction].
	Shadow bool
}

// UploadFunction is PutFunction for an upload that says more.
func (c *Client) UploadFunction(ctx context.Context, name string, upload FunctionUpload, archive io.Reader) error {
	r, err := functionRequest(http.MethodPut, name, "")
	if err != nil {
		return err
	}
	if r.body, err = newUpload(archive); err != nil {
		return fmt.Errorf("client: function %s: %w", name, err)
	}
	r.query = parameters(map[string]any{"implementation": upload.Implementation, "note": upload.Note,
		"shadow": upload.Shadow})
	_, err = c.do(ctx, r, nil)
	return err
}

// upload is a file as a request body.
type upload struct {
	file         io.ReaderAt
	offset, size int64
}

func (u *upload) open() (io.Reader, int64) {
	return io.NewSectionReader(u.file, u.offset, u.size), u.size
}
func (u *upload) kind() string { return "application/octet-stream" }

func newUpload(archive io.Reader) (*upload, error) {
	u, ok := fromFile(archive)
	if !ok {
		all, err := io.ReadAll(archive)
		if err != nil {
			return nil, err
		}
		u = &upload{file: bytes.NewReader(all), size: int64(len(all))}
	}
	if u.size == 0 {
		return nil, errors.New("the archive is empty")
	}
	return u, nil
}

// fromFile is the rest of a file that can be read more than once; false when it cannot, as a pipe.
func fromFile(archive io.Reader) (*upload, bool) {
	file, ok := archive.(interface {
		io.ReaderAt
		io.Seeker
	})
	if !ok {
		return nil, false
	}
	offset, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, false
	}
	end, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, false
	}
	return &upload{file: file, offset: offset, size: end - offset}, true
}
