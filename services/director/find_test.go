package director_test

import (
	"bufio"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
)

// loseProjects deletes the list of projects.
func (s *servers) loseProjects() {
	s.Helper()
	conn, err := new(net.Dialer).DialContext(s.Context(), "tcp", *s.redisAt.Load())
	if err != nil {
		s.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	fmt.Fprint(conn, "DEL mm:projects\r\n")
	if answer, err := bufio.NewReader(conn).ReadString('\n'); err != nil || answer != ":1\r\n" {
		s.Fatalf("%q, %v", answer, err)
	}
}

func (w *world) listed(projects ...string) {
	w.Helper()
	w.until(fmt.Sprint(projects, " are listed"), func() bool {
		got, err := w.store.Projects(w.Context())
		if err != nil {
			w.Fatal(err)
		}
		slices.Sort(got)
		return slices.Equal(got, projects)
	})
}

// Promise 5.
func TestLostListOfProjectsComesBack(t *testing.T) {
	t.Parallel()
	w, own := newOwnWorld(t)
	w.runner("r", map[string]function{"f": pairs})
	both := []string{"another", project}
	for _, p := range both {
		w.put(p, "f", nil)
	}
	stop := w.director("a", times())
	w.shares(both, map[string][]int{"a": {2}})
	w.results(w.create(2)...)

	// While a director leads them.
	own.loseProjects()
	w.listed(both...)
	w.until("it is logged", func() bool { return w.says("lost projects from their list") })
	if w.says("giving a project up") {
		t.Error("the director gave projects up that were not listed")
	}
	w.results(w.create(2)...)

	// While no director knows of them.
	stop()
	own.loseProjects()
	w.director("b", times())
	w.shares(both, map[string][]int{"b": {2}})
	w.listed(both...)
	w.until("it is logged", func() bool { return w.says("projects were found that were not listed") })
	w.results(w.create(2)...)
}

// A director must lead a project in which nothing can ever be matched: it has no config, or one of a function that was
// never uploaded.
// Promise 1.
func TestTicketsThatNobodyCanMatchExpire(t *testing.T) {
	for name, config := range map[string]*pb.Config{"no config": nil, "no function": {Function: "missing"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if config != nil {
				w.put(project, "c", config)
			}
			tickets := w.create(2)
			short := times()
			short.Waiting = 100 * time.Millisecond
			w.director("a", short)
			w.until("the tickets are deleted", func() bool {
				return !slices.ContainsFunc(tickets, func(id string) bool {
					_, err := w.store.Ticket(w.Context(), project, id)
					return problem.KindOf(err) != problem.NotFound
				})
			})
		})
	}
}
