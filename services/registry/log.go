package registry

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/fault"
)

const (
	defaultSpan = 30 * time.Minute // the contract's
	leastBound  = 24 * time.Hour   // a span up to it is always taken, whatever is kept
	logPatience = 10 * time.Second // for the bus to answer

	// logLimit is how many bytes of lines an answer has, the newest.
	logLimit = 4 << 20
	leftOut  = "[earlier lines are left out]"

	// positionHeader says where the log has been read to, for the next request's "after".
	positionHeader = "X-Log-Position"
)

// functionLogs is the contract's FunctionLogs.
type functionLogs struct {
	Logs map[string]string `json:"logs"`
}

// logs answers GET /functions/{name}/log?seconds={n}&after={position}: what the function's
// instances wrote since it was created, in the last n seconds, or as long as
// the bus keeps it. n is a whole number from 1 to a day, or to LogAge when that is more.
//
// Beyond the contract an answer has a position in its header. A request with after
// gets the lines behind it, once each, however long ago they were written unless seconds is given
// as well: so a log is followed.
func (r *registry) logs(c echo.Context) error {
	name, err := nameOf(c)
	if err != nil {
		return err
	}
	after, err := position(c)
	if err != nil {
		return err
	}
	span, err := r.span(c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), logPatience)
	defer cancel()
	project := c.Param("project")
	f, err := r.Store.Function(ctx, project, name)
	if err != nil {
		return err
	}
	// The bus may still have lines of a deleted function of the same name.
	since := r.Now().Add(-span)
	if created := time.UnixMilli(f.GetCreated()); created.After(since) || after > 0 && !c.QueryParams().Has("seconds") {
		since = created
	}
	lines, reached, err := r.Bus.LogsAfter(ctx, project, name, since, after)
	if err != nil {
		return err
	}
	c.Response().Header().Set(positionHeader, strconv.FormatUint(reached, 10))
	answer := functionLogs{Logs: texts(lines, logLimit)}
	for _, i := range r.board.status(project, f).Instances {
		if _, wrote := answer.Logs[i.Name]; !wrote {
			answer.Logs[i.Name] = ""
		}
	}
	return c.JSON(http.StatusOK, answer)
}

// span is the query's seconds.
func (r *registry) span(c echo.Context) (time.Duration, error) {
	query := c.QueryParams()
	if !query.Has("seconds") {
		return defaultSpan, nil
	}
	longest := int64(max(r.LogAge, leastBound) / time.Second)
	n, err := strconv.ParseInt(query.Get("seconds"), 10, 64)
	if err != nil || n < 1 || n > longest {
		return 0, fault.New(fault.Invalid, "seconds: invalid time range: a whole number from 1 to %d is expected", longest)
	}
	return time.Duration(n) * time.Second, nil
}

// position is the query's after, 0 when there is none.
func position(c echo.Context) (uint64, error) {
	query := c.QueryParams()
	if !query.Has("after") {
		return 0, nil
	}
	n, err := strconv.ParseUint(query.Get("after"), 10, 64)
	if err != nil {
		return 0, fault.New(fault.Invalid, "after: a position is expected, as an earlier answer has it in the header %s", positionHeader)
	}
	return n, nil
}

// texts joins the lines of each instance, in their order. Of all lines the
// newest are kept that have no more than limit bytes.
func texts(lines []*pb.LogLines, limit int) map[string]string {
	kept := map[string][]string{} // the newest first
	cut := map[string]bool{}
	for _, l := range slices.Backward(lines) {
		if limit -= len(l.GetText()) + 1; limit < 0 {
			cut[l.GetInstance()] = true
			continue
		}
		kept[l.GetInstance()] = append(kept[l.GetInstance()], strings.TrimSuffix(l.GetText(), "\n"))
	}
	all := make(map[string]string, len(kept))
	for instance := range cut {
		kept[instance] = append(kept[instance], leftOut)
	}
	for instance, text := range kept {
		slices.Reverse(text)
		all[instance] = strings.Join(text, "\n")
	}
	return all
}
