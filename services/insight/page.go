package insight

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/web"
)

const (
	// maxLook is how many events are looked at for an answer, and maxPage after how many bytes it has no more of them.
	maxLook = 500_000
	maxPage = 1 << 20
)

// page is an answer with events.
type page struct {
	Events []jsontext.Value `json:"events"`
	// Next is the place behind them, and More is true if there may be more now.
	Next string `json:"next"`
	More bool   `json:"more"`
}

// events answers GET /events: a page, or a stream if the client asks for one.
func (s *service) events(c echo.Context) error {
	follow := web.WantsStream(c.Request().Header)
	q, err := s.query(c, follow)
	if err != nil {
		return err
	}
	if follow {
		return s.follow(c, q)
	}
	ctx, leave, err := s.read(c.Request().Context(), q.project, readTime)
	if err != nil {
		return err
	}
	defer leave()
	r := &pageReader{reading: reading{service: s, project: q.project}, query: q, at: q.at,
		page: page{Events: []jsontext.Value{}}}
	end, err := s.Bus.ReadEvents(ctx, q.project, q.begin, false, func(m bus.EventMessage) bool { return r.take(ctx, m) })
	switch {
	case r.err != nil:
		err = r.err
	case err == nil || ctx.Err() == nil || c.Request().Context().Err() != nil:
	case r.at != q.at:
		r.page.More, err = true, nil // it took too long
	default:
		err = problem.Wrap(problem.Unavailable, err, "the message bus did not answer in time, try again")
	}
	if err != nil {
		return err
	}
	if !r.page.More && end > r.at.message {
		r.at = cursor{message: end} // behind the events of other projects
	}
	r.page.Next = r.at.String()
	return c.JSON(http.StatusOK, r.page)
}

// pageReader makes a page.
type pageReader struct {
	reading
	query *query
	page  page
	at    cursor
	bytes int
	seen  int
	err   error
}

// take is false when the page has no room for more.
func (r *pageReader) take(ctx context.Context, m bus.EventMessage) (more bool) {
	r.count(ctx, m)
	var arrivals arrivals
	if arrivals, r.err = r.arrivals(ctx, r.query, m); r.err != nil {
		return false
	}
	r.err = r.query.each(ctx, m, func(at cursor, e *pb.Event) (more bool, err error) {
		text, err := encodeEvent(at.String(), e, arrivals)
		if err != nil {
			return false, err
		}
		r.page.Events, r.at = append(r.page.Events, text), at
		r.bytes += len(text)
		r.page.More = len(r.page.Events) >= r.query.limit || r.bytes >= maxPage
		return !r.page.More, nil
	})
	if r.err != nil || r.page.More {
		return false
	}
	r.at = cursor{message: m.Sequence}
	r.seen += len(m.GetEvents())
	r.page.More = r.seen >= maxLook
	return !r.page.More
}
