package contract

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// limits run last and one at a time, since they use up limits that the others need.
func limits() []requirement {
	return []requirement{
		{name: "limits/20 functions", check: func(t *trial) {
			const most = 20
			there := t.functionNames()
			var made []string
			for i := len(there); i < most; i++ {
				name := t.name("f")
				t.upload(name, module("limit"))
				made = append(made, name)
			}
			one := functionRequest(http.MethodPut, t.name("f"))
			one.body, one.kind = string(module("limit")), "application/wasm"
			t.mustRefuse(http.StatusBadRequest, one, "20")
			t.upload(made[0], module("an update is possible"))
			t.do(http.StatusNoContent, functionRequest(http.MethodDelete, made[1]))
			t.Cleanup(func() { t.do(http.StatusNoContent, request{as: Developer, method: http.MethodDelete, path: one.path}) })
			t.do(http.StatusOK, one)
			if names := t.functionNames(); len(names) != most || slices.Contains(names, made[1]) {
				t.Errorf("there are %d functions, want %d", len(names), most)
			}
		}},
		{name: "limits/tickets of one player", check: func(t *trial) {
			r := t.creation(`{}`)
			t.mustLimit(r, "player")
			// Other players are not limited.
			t.ticket(nil)
		}},
		{name: "limits/reads of one player", check: func(t *trial) {
			t.mustLimit(request{as: Player, method: http.MethodGet, path: "tickets?id=x"}, "reads")
		}},
		{name: "limits/deletes of one player", check: func(t *trial) {
			r := request{as: Player, method: http.MethodDelete, path: "tickets?id=x"}
			t.mustLimit(r, "deletes")
			// Other players are not limited.
			r.as = Other
			t.mustRefuse(http.StatusNotFound, r)
		}},
		{name: "limits/reads of one ticket", check: func(t *trial) {
			k := t.ticket(nil)
			t.mustLimit(k.get(), "reads")
			// A game service may read other tickets.
			t.do(http.StatusOK, t.ticket(nil).get())
		}},
		{name: "limits/waiting tickets", check: func(t *trial) {
			if t.MaxWaiting == 0 {
				t.skip("too many tickets may wait here")
			}
			a := t.exhaust(t.MaxWaiting+1, func() request { return t.creation(`{}`) })
			t.mustBeLimited(a, "waiting")
			t.contains("the policy", a.header.Get("RateLimit-Policy"), "q="+strconv.Itoa(t.MaxWaiting))
			t.cleanup()
			t.ticket(nil)
		}},
		{name: "limits/requests to the Configs API", check: func(t *trial) {
			t.mustLimitAPI(configRequest(http.MethodGet, "x", ""), "configs")
		}},
		{name: "limits/requests to the Functions API", check: func(t *trial) {
			t.mustLimitAPI(functionRequest(http.MethodGet, "x"), "functions")
		}},
	}
}

// mustLimitAPI uses up the limit of an API, of the other project if there is one, with a request that is answered 404.
func (t *trial) mustLimitAPI(r request, quota string) {
	theirs := r
	if t.Another != "" {
		theirs.as, theirs.project = Outsider, t.Another
	}
	t.mustLimit(theirs, quota)
	t.mustRefuse(http.StatusNotFound, r)
}

// mustLimit sends a request until it is answered 429. After Retry-After it must be answered again.
func (t *trial) mustLimit(r request, quota string) {
	const tries = 3000
	a := t.exhaust(tries, func() request { return r })
	t.mustBeLimited(a, quota)
	if again := t.send(r); again.status == http.StatusTooManyRequests {
		t.Errorf("got %v after Retry-After", again)
	} else if again.status == http.StatusCreated {
		t.forget(r, again)
	}
}

// mustBeLimited checks what is true of every answer 429 and is not in the OpenAPI document.
func (t *trial) mustBeLimited(a answer, quota string) {
	equal(t, "the status", a.status, http.StatusTooManyRequests)
	limit, policy := a.header.Get("RateLimit"), a.header.Get("RateLimit-Policy")
	if !strings.HasPrefix(limit, strconv.Quote(quota)+";") || !strings.HasPrefix(policy, strconv.Quote(quota)+";") {
		t.Errorf("RateLimit is %q and RateLimit-Policy %q, want them about %q", limit, policy, quota)
	}
	code := "playerLimited"
	switch quota {
	case "waiting":
		code = "tooManyTickets"
	case "configs", "functions":
		code = "projectLimited"
	}
	equal(t, "the code", a.problem(t).Code, code)
	t.contains("RateLimit", limit, "r=0", "t="+a.header.Get("Retry-After"))
}

// exhaust sends requests, several at a time, until one is answered 429, and returns that answer. The tickets that it
// creates are deleted after the trial.
func (t *trial) exhaust(tries int, next func() request) (refusal answer) {
	const atOnce = 8
	var (
		mu      sync.Mutex
		reached bool
		failure error
		made    []func()
		senders sync.WaitGroup
	)
	turn := func() (request, bool) {
		mu.Lock()
		defer mu.Unlock()
		if reached || failure != nil || tries == 0 {
			return request{}, false
		}
		tries--
		return next(), true
	}
	for range atOnce {
		senders.Go(func() {
			for {
				r, more := turn()
				if !more {
					return
				}
				r.limited = true
				a, err := t.exchange(r)
				mu.Lock()
				switch {
				case err != nil:
					failure = err
				case a.status == http.StatusTooManyRequests:
					reached, refusal = true, a
				case a.status == http.StatusCreated:
					made = append(made, func() { t.forget(r, a) })
				}
				mu.Unlock()
			}
		})
	}
	senders.Wait()
	t.cleanups = append(t.cleanups, made...)
	if failure != nil {
		t.Fatalf("%v", failure)
	}
	if !reached {
		t.skip("the limit was not reached: it is off or very high")
	}
	return refusal
}
