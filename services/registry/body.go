package registry

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/web"
)

// formOverhead is how many bytes a form may have beside its file.
const formOverhead = 64 << 10

// receive reads the uploaded file: the first file part of a form (multipart/form-data), or else the whole body,
// whatever its content type. A file of more than most bytes is Invalid, and refused unread when its length is declared.
func receive(req *http.Request, most int) ([]byte, error) {
	source, overhead := io.Reader(req.Body), 0
	if media, params, err := mime.ParseMediaType(req.Header.Get("Content-Type")); err == nil &&
		media == "multipart/form-data" {
		if params["boundary"] == "" {
			return nil, refuse("missing: the Content-Type multipart/form-data has no boundary")
		}
		source, overhead = &filePart{form: multipart.NewReader(req.Body, params["boundary"])}, formOverhead
	}
	if req.ContentLength > int64(most+overhead) {
		return nil, fileTooLong(most)
	}
	file, err := io.ReadAll(io.LimitReader(source, int64(most)+1))
	f, ours := errors.AsType[*problem.Error](err)
	switch {
	case len(file) > most, ours && f.Kind == problem.TooLarge:
		return nil, fileTooLong(most)
	case ours:
		return nil, err
	case errors.Is(err, os.ErrDeadlineExceeded): // the server has given up then, as if the client had
		return nil, refuse("came too slowly: a request must be here within %v", web.ReadTimeout)
	case err != nil && req.Context().Err() != nil:
		return nil, req.Context().Err()
	case err != nil:
		return nil, problem.Wrap(problem.Invalid, err, "file: the body broke off or is no form")
	case len(file) == 0:
		return nil, refuse("missing or of zero length: send the archive as the body, " +
			"or as a file of a multipart/form-data form")
	}
	return file, nil
}

// filePart reads the first file of a form; a form without one reads as empty.
type filePart struct {
	form *multipart.Reader
	file *multipart.Part
}

func (p *filePart) Read(buffer []byte) (int, error) {
	for p.file == nil {
		part, err := p.form.NextRawPart()
		if err != nil {
			return 0, err
		}
		if part.FileName() != "" {
			p.file = part
		}
	}
	return p.file.Read(buffer)
}

func fileTooLong(most int) error {
	return refuse("longer than the maximum of %d bytes", most).Exceeds("upload")
}
