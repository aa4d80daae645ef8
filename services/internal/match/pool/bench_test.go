package pool_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
)

const million = 1_000_000

// crowd returns n marshalled tickets with four attributes, each uniform in [0, 1), created in order.
func crowd(tb testing.TB, n int) (ids []string, bodies [][]byte) {
	tb.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		id := fmt.Sprintf("%016x-%016x", random.Uint64(), random.Uint64())
		raw, err := proto.Marshal(&pb.Ticket{
			Id:              id,
			Owner:           fmt.Sprint("player-", i),
			Created:         1_700_000_000_000 + int64(i)*3600_000/int64(n),
			AttributeNames:  []string{"skill", "latency", "level", "mode"},
			AttributeValues: []float64{random.Float64(), random.Float64(), random.Float64(), random.Float64()},
		})
		if err != nil {
			tb.Fatal(err)
		}
		ids, bodies = append(ids, id), append(bodies, raw)
	}
	return ids, bodies
}

func filled(tb testing.TB, ids []string, bodies [][]byte) *pool.Index {
	tb.Helper()
	ix := pool.New()
	for i, id := range ids {
		if err := ix.Put(id, bodies[i]); err != nil {
			tb.Fatal(err)
		}
	}
	return ix
}

func below(attribute string, max float64) *pb.Filter {
	return &pb.Filter{Attribute: attribute, Min: proto.Float64(0), Max: &max}
}

func perTicket(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/ticket")
}

// heap is the bytes in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func BenchmarkPut(b *testing.B) {
	for _, n := range []int{million / 10, million} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			ids, bodies := crowd(b, n)
			before := heap()
			var ix *pool.Index
			for b.Loop() {
				ix = filled(b, ids, bodies)
			}
			perTicket(b, n)
			b.ReportMetric(float64(heap()-before)/float64(ix.Len()), "B/ticket")
			runtime.KeepAlive(ix)
			runtime.KeepAlive(ids)
			runtime.KeepAlive(bodies)
		})
	}
}

// BenchmarkChurn drops the oldest ticket of a crowd and puts it back. It includes compaction.
func BenchmarkChurn(b *testing.B) {
	for _, n := range []int{million / 100, million} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			ids, bodies := crowd(b, n)
			ix := filled(b, ids, bodies)
			i := 0
			for b.Loop() {
				ix.Drop(ids[i])
				if err := ix.Put(ids[i], bodies[i]); err != nil {
					b.Fatal(err)
				}
				i = (i + 1) % n
			}
		})
	}
}

func BenchmarkSelect(b *testing.B) {
	ids, bodies := crowd(b, million)
	ordered := filled(b, ids, bodies)
	shuffled := pool.New()
	for _, i := range rand.New(rand.NewPCG(3, 4)).Perm(million) {
		if err := shuffled.Put(ids[i], bodies[i]); err != nil {
			b.Fatal(err)
		}
	}
	for _, share := range []float64{0.01, 0.1, 1} {
		one := map[string]*pb.Pool{"all": {Filters: []*pb.Filter{below("skill", share)}}}
		three := map[string]*pb.Pool{"all": {Filters: []*pb.Filter{
			below("skill", share), below("latency", 2), below("level", 2),
		}}}
		two := map[string]*pb.Pool{
			"low":  {Filters: []*pb.Filter{below("skill", share/2)}},
			"high": {Filters: []*pb.Filter{{Attribute: "skill", Min: proto.Float64(share / 2), Max: proto.Float64(share)}}},
		}
		bench := func(name string, ix *pool.Index, pools map[string]*pb.Pool) {
			b.Run(fmt.Sprintf("%s/%g%%", name, share*100), func(b *testing.B) {
				var s pool.Selection
				for b.Loop() {
					ix.View(func(v pool.View) { v.Select(pools, &s) })
				}
				b.ReportMetric(float64(s.N()), "tickets")
			})
		}
		bench("1filter", ordered, one)
		bench("3filters", ordered, three)
		bench("2pools", ordered, two)
		bench("shuffled", shuffled, one)
	}
}

func BenchmarkGather(b *testing.B) {
	ids, bodies := crowd(b, million)
	ix := filled(b, ids, bodies)
	for _, share := range []float64{0.01, 0.1, 1} {
		b.Run(fmt.Sprintf("%g%%", share*100), func(b *testing.B) {
			ix.View(func(v pool.View) {
				var s pool.Selection
				v.Select(map[string]*pb.Pool{"all": {Filters: []*pb.Filter{below("skill", share)}}}, &s)
				dst := make([]float64, s.N())
				for b.Loop() {
					for _, name := range []string{"skill", "latency", "level", "mode"} {
						v.Column(&s, name, dst)
					}
				}
				perTicket(b, s.N())
			})
		})
	}
}
