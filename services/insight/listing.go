package insight

import (
	"math"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/match/pool"
)

// longestAge bounds ages, in seconds: about a year.
const longestAge = 1e8 / 3

// listing reads what a list is asked for. The function is empty if any that a runner has may be asked.
func (s *service) listing(c echo.Context, configs map[string]*pb.Config) (*pb.RunRequest, error) {
	values, err := web.Query(c, "player", "queue", "config", "pool", "filters", "minAge", "maxAge", "limit", "after",
		"sample")
	if err != nil {
		return nil, err
	}
	l := &pb.Listing{Player: values.Get("player")}
	r := &pb.RunRequest{Project: c.Param("project"), Queue: values.Get("queue"), Listing: l,
		Budget: listTime.Milliseconds()}
	switch {
	case values.Has("player") && !auth.IsPlayer(l.GetPlayer()):
		return nil, problem.New(problem.Invalid,
			"query parameter player: up to 256 bytes of printable UTF-8 are expected")
	case values.Has("queue") && values.Has("config"):
		return nil, problem.New(problem.Invalid, "query parameters queue, config: give one of them: a config has a queue")
	case values.Has("pool") && !values.Has("config"):
		return nil, problem.New(problem.Invalid, "query parameter pool: give the config that has it")
	case values.Has("config"):
		if err := addPools(r, values, configs); err != nil {
			return nil, err
		}
	default:
		l.EveryQueue = !values.Has("queue")
	}
	limit, err := web.Limit(values)
	if err != nil {
		return nil, err
	}
	l.Limit, l.Sample = int32(limit), values.Get("sample") == "true"
	if values.Has("sample") && (!l.Sample || values.Has("after")) {
		return nil, problem.New(problem.Invalid, "query parameter sample: true is expected, and no after")
	}
	if values.Get("after") != "" {
		var ok bool
		if l.AfterCreated, l.After, ok = parseListCursor(values.Get("after")); !ok {
			return nil, problem.New(problem.Invalid, "query parameter after: next of an earlier answer is expected")
		}
	}
	if l.Filters, err = s.filters(values); err != nil {
		return nil, err
	}
	return r, nil
}

// addPools adds the pools of a config, or the one that is asked for, and its queue.
func addPools(r *pb.RunRequest, values url.Values, configs map[string]*pb.Config) error {
	config := configs[values.Get("config")]
	if config == nil {
		return problem.New(problem.ConfigNotFound, "query parameter config: there is no config of that name")
	}
	r.Queue, r.Function, r.Pools = config.GetQueue(), config.GetFunction(), config.GetPools()
	if !values.Has("pool") {
		return nil
	}
	one := config.GetPools()[values.Get("pool")]
	if one == nil {
		return problem.New(problem.NotFound, "query parameter pool: the config has no pool of that name")
	}
	r.Pools = map[string]*pb.Pool{values.Get("pool"): one}
	return nil
}

// filters returns the query's filters, ages included.
func (s *service) filters(values url.Values) ([]*pb.Filter, error) {
	var filters []*pb.Filter
	if values.Has("filters") {
		text := jsontext.Value(values.Get("filters"))
		if !text.IsValid() {
			return nil, problem.New(problem.Invalid, "query parameter filters: this is no JSON: a list of filters is expected, "+
				`such as [{"attribute":"skill","min":1000,"max":2000}]`)
		}
		r := definition.NewReader(text, s.Definitions)
		filters = r.Filters("filters")
		if err := r.Err(); err != nil {
			return nil, problem.New(problem.Invalid, "query parameter %v", err)
		}
	}
	now := float64(s.Store.Now().UnixMilli())
	age := &pb.Filter{Attribute: pool.Created}
	for name, bound := range map[string]**float64{"minAge": &age.Max, "maxAge": &age.Min} {
		if !values.Has(name) {
			continue
		}
		seconds, err := ageOf(values, name)
		if err != nil {
			return nil, err
		}
		*bound = new(now - seconds*float64(time.Second/time.Millisecond))
	}
	if age.Min != nil && age.Max != nil && age.GetMin() > age.GetMax() {
		return nil, problem.New(problem.Invalid, "query parameters minAge, maxAge: maxAge is below minAge")
	}
	if age.Min != nil || age.Max != nil {
		filters = append(filters, age)
	}
	return filters, nil
}

// ageOf reads a number of seconds, 0 if it is not given.
func ageOf(values url.Values, name string) (float64, error) {
	if !values.Has(name) {
		return 0, nil
	}
	seconds, err := strconv.ParseFloat(values.Get(name), 64)
	if err != nil || math.IsNaN(seconds) || seconds < 0 || seconds > longestAge {
		return 0, problem.New(problem.Invalid, "query parameter %s: a number of seconds is expected, 0 or more",
			problem.Word(name))
	}
	return seconds, nil
}
