package console

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/edge/stream"
)

// follow answers with a stream: the page's content, whenever it has changed.
func (v *view) follow(name string, p page) error {
	end, err := v.streams.Begin(v.Request().Context(), v.Project, "")
	if err != nil {
		return err
	}
	request := v.Request().Clone(v.Request().Context())
	viewer, router := v.viewer, v.Echo()
	begun, err := v.streams.Answer(v.Context, viewer.Until.Sub(v.Now()), end,
		func(ctx context.Context, out *stream.Stream) string {
			// Its context has ended, and what it is of may serve another request.
			own := *v
			own.Context = router.NewContext(request.WithContext(ctx), nil)
			var known []byte
			for {
				text, end := own.refresh(ctx, name, p)
				if end {
					return out.Reconnect(stream.Token)
				}
				if text != nil && !bytes.Equal(text, known) {
					known = text
					data, err := json.Marshal(string(text))
					if err != nil {
						return stream.Source
					}
					if err := out.Send(append(stream.Event("page", ""), data...)); err != nil {
						return stream.EndOf(err)
					}
				}
				next := time.Now().Add(refreshEvery)
				for time.Now().Before(next) {
					if why := out.Wait(nil, next); why != "" {
						return why
					}
				}
			}
		})
	if !begun {
		end()
	}
	return err
}

// refresh makes the content of a page; viewers of the same address with the same token share it. It is nil while it
// cannot be read; end is set when its viewer may not read on.
func (v *view) refresh(ctx context.Context, name string, p page) (text []byte, end bool) {
	ctx, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	text, err := remember(ctx, v, "page "+v.Request().URL.RequestURI(), refreshEvery/2,
		func(_ *client.Client, ctx context.Context) ([]byte, error) {
			v.Problems = nil
			data, err := p.load(ctx, v)
			if err != nil {
				return nil, err
			}
			var b bytes.Buffer
			err = v.pages[name].ExecuteTemplate(&b, "live", v.frame(frame{Page: name, Section: p.section, Data: data}))
			return b.Bytes(), err
		})
	if err != nil {
		return nil, refused(err)
	}
	return text, false
}
