package state_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

// bulkyGame is a backfill ticket of somewhat more than size bytes.
func bulkyGame(id string, size int) *pb.Backfill {
	b := game(id, 3)
	b.Properties["blob"] = []byte(strings.Repeat("x", size))
	return b
}

func backfillBytes(t *testing.T, s *state.Store) int64 {
	t.Helper()
	return countsOf(t, s).BackfillBytes
}

func TestBackfillTicketsAreBoundedInBytes(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{Limits: state.Limits{BackfillMemory: 1}})
		revision, terms := setUp(t, s)
		create(t, s, "t0", "t1", "t2")
		var err error
		stored := 0
		for ; stored < 100; stored++ {
			if _, err = s.CreateBackfill(t.Context(), project, bulkyGame(fmt.Sprint("b", stored), 20<<10)); err != nil {
				break
			}
		}
		if tooMuch(t, err, "backfill-memory"); stored != 51 {
			t.Fatalf("%d backfill tickets of 20 KiB fit into 1 MiB", stored)
		}
		if used := backfillBytes(t, s); used > 1<<20 || used < 51*20<<10 {
			t.Errorf("%d bytes are counted", used)
		}
		_, err = s.ReplaceBackfill(t.Context(), project, bulkyGame("b0", 30<<10))
		tooMuch(t, err, "backfill-memory")
		// Functions create and enlarge backfill tickets too.
		opened := opening(revision, "m0", "t0")
		opened.Match.Proposal.Filling.Contents = bulkyGame("", 20<<10)
		seen := bulkyGame("b0", 20<<10)
		seen.Generation = epoch0.UnixMilli()
		grown := fill(revision, seen, bulkyGame("b0", 30<<10), "t1")
		if mustClaim(t, s, terms, opened, grown); opened.Refusal != "full" || grown.Refusal != "full" {
			t.Errorf("what functions make: %q, %q", opened.Refusal, grown.Refusal)
		}
		// A smaller one always works, and makes room.
		if _, err := s.ReplaceBackfill(t.Context(), project, bulkyGame("b1", 10)); err != nil {
			t.Error(err)
		}
		again := fill(revision, seen, bulkyGame("b0", 10), "t1")
		if mustClaim(t, s, terms, again); again.Refusal != "" {
			t.Errorf("with room: %q", again.Refusal)
		}
		if _, err := s.CreateBackfill(t.Context(), project, bulkyGame("next", 15<<10)); err != nil {
			t.Error(err)
		}
	})
}

func TestTicketsProposedToOneBackfillTicketAreBounded(t *testing.T) {
	longSuite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		ids := make([]string, 1003)
		for i := range ids {
			ids[i] = fmt.Sprint("t", i)
		}
		create(t, s, ids...)
		b := game("b", 3)
		createGame(t, s, b)
		for _, test := range []struct {
			tickets []string
			want    string
		}{{ids[:1001], "full"}, {ids[:2], ""}, {ids[2:1001], "full"}, {ids[2:1000], ""}} {
			c := fill(revision, b, game("b", 1), test.tickets...)
			if mustClaim(t, s, terms, c); c.Refusal != test.want {
				t.Fatalf("%d tickets: %q, want %q", len(test.tickets), c.Refusal, test.want)
			}
			if test.want == "" {
				b.Generation++
			}
		}
	})
}

// Whatever becomes of backfill tickets, the sum counts only backfill tickets that exist.
func TestBytesOfBackfillTicketsDoNotDrift(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		random := rand.New(rand.NewPCG(1, 2))
		created, proposed := 0, 0
		for n := range 300 {
			id := fmt.Sprint("b", random.IntN(8))
			terms.Approval = 5 * time.Second
			generation, _ := s.Generation(t.Context(), project, id) // an error: there is none
			switch random.IntN(6) {
			case 0, 1:
				if generation == 0 {
					b := bulkyGame(id, random.IntN(4<<10))
					if _, err := s.At(at(n)).CreateBackfill(t.Context(), project, b); err != nil {
						t.Fatal(err)
					}
					created++
				}
			case 2:
				_, err := s.At(at(n)).ReplaceBackfill(t.Context(), project, bulkyGame(id, random.IntN(4<<10)))
				if err != nil && problem.KindOf(err) != problem.NotFound {
					t.Fatal(err)
				}
			case 3:
				ticket := fmt.Sprint("t", n)
				create(t, s, ticket)
				c := fill(revision, &pb.Backfill{Id: id, Generation: generation}, bulkyGame(id, random.IntN(4<<10)), ticket)
				mustClaim(t, s.At(at(n)), terms, c)
				if c.Refusal == "" {
					proposed++
				}
			case 4:
				if _, err := s.At(at(n)).ApproveBackfill(t.Context(), project, id, approvals()); err != nil &&
					problem.KindOf(err) != problem.NotFound {
					t.Fatal(err)
				}
			default:
				if _, err := s.At(at(n)).EndOverdueJoins(t.Context(), project, time.Minute, 10); err != nil {
					t.Fatal(err)
				}
				if random.IntN(3) == 0 {
					if _, _, err := s.At(at(n)).DeleteBackfill(t.Context(), project, id, ""); err != nil {
						t.Fatal(err)
					}
				}
			}
			actual, err := s.BytesOfBackfills(t.Context(), project)
			if counted := backfillBytes(t, s); err != nil || counted != actual {
				t.Fatalf("step %d: %d bytes are counted, %d are true, %v", n, counted, actual, err)
			}
		}
		if created < 5 || proposed < 5 || backfillBytes(t, s) == 0 {
			t.Fatalf("%d backfill tickets, %d proposals", created, proposed)
		}
		if _, _, err := s.At(at(1000)).DeleteSilentBackfills(t.Context(), project, 0, 100); err != nil {
			t.Fatal(err)
		}
		if used := backfillBytes(t, s); used != 0 {
			t.Errorf("%d bytes are counted and no backfill ticket is left", used)
		}
	})
}
