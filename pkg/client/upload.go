package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

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
