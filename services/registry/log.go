package registry

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/platform/wait"
)

const (
	defaultSpan = 30 * time.Minute // the contract's
	leastBound  = 24 * time.Hour   // a span up to it is always taken, whatever is kept
	logPatience = 10 * time.Second // until a read may begin
	readTime    = 30 * time.Second // for a read

	// The cost of a message of a log and of a byte of it, the message bus included.
	readCost = 5 * time.Microsecond
	byteCost = 10 * time.Nanosecond

	// readPace is how much of a processor, in microseconds a second, the reads of a project take in this process. They
	// use the message bus of all projects, and their budget at once would keep it from matching.
	readPace = 250_000
	// pausedAt is the work between two checks that a read is not too fast.
	pausedAt = time.Millisecond

	// positionHeader has the position up to which the log was read, for the next request's "after".
	positionHeader = "X-Log-Position"
)

// logs answers GET /functions/{name}/log?seconds={n}&after={position}&lines={true}: the output of the function's
// instances since it was created, in the last n seconds, or as long as the bus keeps it. n is a whole number from 1 to
// a day, or to LogAge when that is more.
//
// Beyond the contract an answer has a position in its header. A request with after gets the lines behind it, once each,
// however long ago they were written unless seconds is given as well: so a log is followed. Of a log that is longer
// than an answer, a request without after gets the newest lines, one with after the oldest, and the position behind
// those.
func (r *registry) logs(c echo.Context, name string) error {
	query, err := web.Query(c, "seconds", "after", "lines")
	if err != nil {
		return err
	}
	after, err := position(query)
	if err != nil {
		return err
	}
	span, err := r.span(query)
	if err != nil {
		return err
	}
	asLines, err := web.Flag(query, "lines")
	if err != nil {
		return err
	}
	project := c.Param("project")
	budget := r.logBudget()
	if err := r.allow(c.Request().Context(), project, budget); err != nil {
		return err
	}
	leave, err := r.readLog(c.Request().Context(), project)
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(c.Request().Context(), readTime)
	defer cancel()
	f, err := r.Store.Function(ctx, project, name)
	if err != nil {
		return err
	}
	// The bus may still have lines of a deleted function of the same name.
	since := r.Store.Now().Add(-span)
	if created := time.UnixMilli(f.GetCreated()); created.After(since) || after > 0 && !query.Has("seconds") {
		since = created
	}
	lines := recent{bytesLeft: r.LogAnswer, each: asLines}
	take := lines.push
	if after > 0 {
		take = lines.add // the rest comes with the next request
	}
	cost, paced := time.Duration(0), time.Duration(0)
	reached, err := r.Bus.ReadLog(ctx, project, name, bus.LogStart{Since: since, After: after}, func(l *pb.LogLines) bool {
		cost += readCost + byteCost*time.Duration(sizeOf(l))
		if cost-paced >= pausedAt {
			_ = wait.For(ctx, r.pace.Reserve(project, "", int((cost-paced)/time.Microsecond)))
			paced = cost
		}
		return take(l)
	})
	budget.Charge(ctx, project, cost)
	if err != nil {
		return err
	}
	c.Response().Header().Set(positionHeader, strconv.FormatUint(reached, 10))
	if asLines {
		return c.JSON(http.StatusOK, response.FunctionLogs{Logs: map[string]string{}, Lines: lines.list()})
	}
	answer := response.FunctionLogs{Logs: lines.texts()}
	for _, i := range r.runners.status(project, f).Instances {
		if _, wrote := answer.Logs[i.Name]; !wrote {
			answer.Logs[i.Name] = ""
		}
	}
	return c.JSON(http.StatusOK, answer)
}

// span is the query's seconds.
func (r *registry) span(query url.Values) (time.Duration, error) {
	if !query.Has("seconds") {
		return defaultSpan, nil
	}
	longest := int64(max(r.LogAge, leastBound) / time.Second)
	n, err := strconv.ParseInt(query.Get("seconds"), 10, 64)
	if err != nil || n < 1 || n > longest {
		return 0, problem.New(problem.Invalid, "seconds: invalid time range: a whole number from 1 to %d is expected",
			longest)
	}
	return time.Duration(n) * time.Second, nil
}

// position is the query's after, 0 when there is none.
func position(query url.Values) (uint64, error) {
	if !query.Has("after") {
		return 0, nil
	}
	n, err := strconv.ParseUint(query.Get("after"), 10, 64)
	if err != nil {
		return 0, problem.New(problem.Invalid, "after: a position is expected, as an earlier answer has it in the header %s",
			positionHeader)
	}
	return n, nil
}

// shareEvery is how often the room for logs is shared. A project adds about 5 MiB in this time, on each
// runner that hosts it.
const shareEvery = 5 * time.Second

// shareLogs makes the projects with the most lines give way when the room for logs is short, until ctx ends. Every
// replica does it.
func (r *registry) shareLogs(ctx context.Context) {
	for range wait.Every(ctx, shareEvery) {
		look, cancel := context.WithTimeout(ctx, shareEvery)
		removed, err := r.Bus.ShareLogs(look)
		cancel()
		switch {
		case ctx.Err() != nil:
		case err != nil:
			r.Log.DebugContext(ctx, "the room for logs was not shared", "error", err)
		case removed > 0:
			r.Log.InfoContext(ctx, "the room for logs is short: the projects with the most lines lost their oldest ones",
				"messages", removed)
		}
	}
}
