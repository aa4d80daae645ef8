package ticket_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/estimate"
	"matchmaker.dev/services/internal/state"
)

// learn stores that tickets with more than 1,000 skill wait for one to eleven seconds, as a leader does that has seen
// some hundreds of them.
func (r *replicas) learn(t *testing.T, at time.Time) {
	t.Helper()
	pools := estimate.NewPools([]*pb.Config{{Id: "duel", Revision: 1, Pools: map[string]*pb.Pool{
		"good": {Filters: []*pb.Filter{{Attribute: "skill", Min: new(1000.0)}}}}}})
	class, ok := pools.ClassOf(&pb.Ticket{AttributeNames: []string{"skill"}, AttributeValues: []float64{1500}})
	if !ok {
		t.Fatal("the pool has not the ticket")
	}
	const tickets = 600
	start := at.Add(-tickets * time.Second).UnixMilli()
	book := estimate.NewBook(start, 1)
	for i := range int64(tickets) {
		now := start + 1000*i
		book.Enter(fmt.Sprint(i), class, now, now)
		if i > 0 { // a tenth waits for one second, the next for two, and so on
			for j := max(0, i-10); j < i; j++ {
				if wait := 1 + j*7%10; j+wait == i {
					book.Match([]string{fmt.Sprint(j)}, now)
					book.Leave([]string{fmt.Sprint(j)}, now)
				}
			}
		}
		book.Advance(now)
	}
	book.Advance(at.UnixMilli())
	epoch, err := r.store.AcquireLease(t.Context(), "demo", "leader", time.Hour)
	must(t, err)
	must(t, r.store.PutWaits(t.Context(), "demo", epoch, book.Save(pools)))
}

type estimated struct {
	Created  int64
	Estimate *struct{ Low, High int64 }
}

func TestEstimateIsAnsweredOnRequest(t *testing.T) {
	r := start(t)
	r.learn(t, r.store.Now())
	create := func(body string) string {
		t.Helper()
		_, text, err := r.send(t.Context(), http.MethodPost, r.urls[0], body)
		must(t, err)
		var made struct{ ID string }
		must(t, json.Unmarshal([]byte(text), &made))
		return made.ID
	}
	get := func(url string) estimated {
		t.Helper()
		status, text, err := r.send(t.Context(), http.MethodGet, url, "")
		must(t, err)
		if status != http.StatusOK {
			t.Fatalf("%s: %d %s", url, status, text)
		}
		var got estimated
		must(t, json.Unmarshal([]byte(text), &got))
		return got
	}
	good, bad := create(`{"attributes":{"skill":1500}}`), create(`{"attributes":{"skill":500}}`)
	for _, url := range r.urls {
		got := get(url + "?estimate=true&id=" + good)
		// It has waited for a moment when it is asked.
		if e := got.Estimate; e == nil || e.Low < 0 || e.Low > 3000 || e.High < e.Low || e.High > 12_000 {
			t.Errorf("the estimate is %+v, want about 1000 to 9500 ms", e)
		}
	}
	for _, url := range []string{"?id=" + good, "?estimate=false&id=" + good, "?estimate=true&id=" + bad} {
		if got := get(r.urls[0] + url); got.Estimate != nil {
			t.Errorf("%s has an estimate: %+v", url, *got.Estimate)
		}
	}
	for _, value := range []string{"yes", "1", "true&estimate=true"} {
		status, text, err := r.send(t.Context(), http.MethodGet, r.urls[0]+"?id="+good+"&estimate="+value, "")
		must(t, err)
		if status != http.StatusBadRequest || !strings.Contains(text, "estimate") {
			t.Errorf("estimate=%s: %d %s", value, status, text)
		}
	}
}

// Players of a ticket that do not own it do not see its attributes, but have the same estimate. The stream has it, too.
func TestEstimateOfAPlayerAndInTheStream(t *testing.T) {
	r := start(t)
	r.learn(t, r.store.Now())
	now := r.store.Now()
	body := &pb.Ticket{Id: state.NewID(now), Owner: "bob", Created: now.UnixMilli(), AttributeNames: []string{"skill"},
		AttributeValues: []float64{1500}, Players: []*pb.Player{{Id: "ada"}, {Id: "bob"}}}
	must(t, r.store.Creator(nil).Create(t.Context(), "demo", body))
	_, text, err := r.send(t.Context(), http.MethodGet, r.urls[0]+"?estimate=true&id="+body.GetId(), "")
	must(t, err)
	if !strings.Contains(text, `"estimate":{"low":`) || strings.Contains(text, "skill") {
		t.Errorf("a player who does not own the ticket gets %s", text)
	}
	r.open(t, 1, body.GetId()).expect("waiting", `"estimate":{"low":`)
}

// What was learned long ago, or will be, tells nothing of now.
func TestOldEstimateIsNotAnswered(t *testing.T) {
	for _, age := range []time.Duration{time.Minute, -time.Minute} {
		r := start(t)
		r.learn(t, r.store.Now().Add(-age))
		_, text, err := r.send(t.Context(), http.MethodPost, r.urls[0], `{"attributes":{"skill":1500}}`)
		must(t, err)
		var made struct{ ID string }
		must(t, json.Unmarshal([]byte(text), &made))
		_, text, err = r.send(t.Context(), http.MethodGet, r.urls[0]+"?estimate=true&id="+made.ID, "")
		must(t, err)
		if strings.Contains(text, "estimate") {
			t.Errorf("%v old: %s", age, text)
		}
	}
}
