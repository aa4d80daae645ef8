package beacon

import (
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"net/netip"
	"time"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/receipt"
	"matchmaker.dev/services/internal/edge/web"
)

// Path is where probes are answered by HTTP, for browsers: a GET, and at once a second one with the echo of the first,
// on the same connection.
const Path = "/probe"

// greeting is the answer to the first GET.
type greeting struct {
	Echo string `json:"echo"`
}

// proof is the answer to the second one.
type proof struct {
	Region string `json:"region"`
	// RTT is in milliseconds.
	RTT     float64 `json:"rtt"`
	Receipt string  `json:"receipt"`
}

var encoding = base64.RawURLEncoding.Strict()

func (b *Beacon) routes(e *echo.Echo) {
	e.GET(Path, b.probe)
	web.NewCORS("*", http.MethodGet, "", "Retry-After").Allow(e, Path)
}

func (b *Beacon) probe(c echo.Context) error {
	now := b.Elapsed()
	client, ok := web.ClientAddress(c.Request(), b.proxies)
	if !ok {
		return problem.New(problem.Invalid, "X-Forwarded-For: no address of a client")
	}
	if !b.limiter.allow(client, now) {
		b.counts[limited].Add(1)
		return problem.New(problem.Limited, "the network that this request comes from probes too often").After(time.Second)
	}
	query, err := web.Query(c, "echo")
	if err != nil {
		return err
	}
	p := b.probers.Get().(*prober)
	defer b.probers.Put(p)
	from := netip.AddrPortFrom(client, 0) // a browser may have several connections, and a proxy has
	if !query.Has("echo") {
		text := binary.BigEndian.AppendUint64(nil, uint64(b.Elapsed()))
		text = append(text, p.tag(ofHTTP, text, from)...)
		b.counts[greeted].Add(1)
		return c.JSON(http.StatusOK, greeting{encoding.EncodeToString(text)})
	}
	text, err := encoding.DecodeString(query.Get("echo"))
	if err != nil || len(text) != 8+tagSize {
		b.counts[malformed].Add(1)
		return problem.New(problem.Invalid, "query parameter echo: the echo of an answer is expected")
	}
	rtt, ok := p.check(ofHTTP, text, from, now)
	if !ok {
		b.counts[unproven].Add(1)
		return problem.New(problem.Invalid, "query parameter echo: it was made for another address, by another process, or "+
			"more than %v ago", receipt.Longest)
	}
	b.counts[granted].Add(1)
	return c.JSON(http.StatusOK, proof{
		Region: b.Settings.Region, RTT: float64(rtt.Microseconds()) / 1000,
		Receipt: encoding.EncodeToString(p.receipt(nil, client, rtt)),
	})
}
