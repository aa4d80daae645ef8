package e2e

import (
	"io"
	"net/http"
	"strings"
	"sync"

	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector is an OpenTelemetry collector. It takes what the services send by OTLP over HTTP.
type collector struct {
	buffer // the bodies of all requests

	mu     sync.Mutex
	unread [][]byte // the bodies whose spans no test asked for yet: to decode them takes long
	spans  []*span
	byID   map[string]*span
}

// span is a span with what tests need of it.
type span struct {
	id, parent string // trace and span; parent is empty for roots
	links      []string
	name       string
	service    string // ticket, director, …; web for requests
	failed     bool
	attributes map[string]string
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_, _ = c.Write(body)
	if r.URL.Path != "/v1/traces" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unread = append(c.unread, body)
}

// read reads the spans that came. The caller has the lock.
func (c *collector) read() {
	if c.byID == nil {
		c.byID = map[string]*span{}
	}
	for _, body := range c.unread {
		var data trace.TracesData // as in the request of an export
		if proto.Unmarshal(body, &data) != nil {
			continue // what is missing then is missed
		}
		for _, resource := range data.GetResourceSpans() {
			for _, scope := range resource.GetScopeSpans() {
				service := scope.GetScope().GetName()
				service = service[strings.LastIndexByte(service, '/')+1:]
				for _, s := range scope.GetSpans() {
					one := spanOf(s)
					one.service = service
					c.spans = append(c.spans, one)
					c.byID[one.id] = one
				}
			}
		}
	}
	c.unread = nil
}

func spanOf(s *trace.Span) *span {
	one := &span{
		id: string(s.GetTraceId()) + string(s.GetSpanId()), name: s.GetName(), attributes: map[string]string{},
		failed: s.GetStatus().GetCode() == trace.Status_STATUS_CODE_ERROR,
	}
	if len(s.GetParentSpanId()) > 0 {
		one.parent = string(s.GetTraceId()) + string(s.GetParentSpanId())
	}
	for _, l := range s.GetLinks() {
		one.links = append(one.links, string(l.GetTraceId())+string(l.GetSpanId()))
	}
	for _, a := range s.GetAttributes() {
		if text := a.GetValue().GetStringValue(); text != "" {
			one.attributes[a.GetKey()] = text
		}
	}
	return one
}

// find lists the spans of a service with a name, and with a value of an attribute if that is not "".
func (c *collector) find(service, name, attribute, value string) (found []*span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read()
	for _, s := range c.spans {
		if s.service == service && s.name == name && (attribute == "" || s.attributes[attribute] == value) {
			found = append(found, s)
		}
	}
	return found
}

// get is the span with an id, nil when there is none.
func (c *collector) get(id string) *span {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read()
	return c.byID[id]
}
