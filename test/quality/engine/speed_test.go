package engine_test

import (
	"flag"
	"fmt"
	"io"
	"testing"

	"matchmaker.dev/services/test/quality/engine"
	"matchmaker.dev/services/test/quality/world"
)

var checkout = flag.String("flexi", "", "a checkout of github.com/moepig/flexi")

// BenchmarkCrowd measures one run over a crowd that came at once, on FlexMatch's file: of the function, natively, and
// of flexi, if there is a checkout.
func BenchmarkCrowd(b *testing.B) {
	names := []engine.Name{engine.On(world.FlexMatch)}
	if *checkout != "" {
		if err := engine.BuildFlexi(b.Context(), *checkout, b.TempDir()); err != nil {
			b.Fatal(err)
		}
		names = append(names, engine.Flexi)
	}
	for _, of := range []string{"evening", "parties"} {
		w, _ := world.Find(of)
		tickets := w.Tickets(1)
		for i := range tickets {
			tickets[i].Arrives = 0
		}
		for _, n := range []int{100, 300, 1000} {
			var waiting []*world.Ticket
			for i := range tickets[:n] {
				waiting = append(waiting, &tickets[i])
			}
			for _, name := range names {
				b.Run(fmt.Sprintf("%s/%d/%s", of, n, name), func(b *testing.B) {
					b.ReportAllocs()
					found := 0
					for b.Loop() {
						b.StopTimer()
						e, err := engine.New(name, &w.Game, 1)
						if err != nil {
							b.Fatal(err)
						}
						b.StartTimer()
						matches, err := e.Match(1, waiting)
						if err != nil {
							b.Fatal(err)
						}
						b.StopTimer()
						found = len(matches)
						if c, ok := e.(io.Closer); ok {
							if err := c.Close(); err != nil {
								b.Fatal(err)
							}
							b.ReportMetric(float64(c.(interface{ Peak() int64 }).Peak())/1024, "peak-MiB")
						}
						b.StartTimer()
					}
					b.ReportMetric(float64(found), "matches")
				})
			}
		}
	}
}
