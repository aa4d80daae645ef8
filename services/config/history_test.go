package config

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/platform/keyring"
)

// answeredChange is an element of the answer to GET /configs/{id}/history.
type answeredChange struct {
	ETag, Changed, By string
	Current, Deleted  bool
	Config            json.RawMessage
}

// history returns the changes of a config, the newest first.
func (s *studio) history(t *testing.T, id string) []answeredChange {
	t.Helper()
	r := s.do(t, http.MethodGet, "/configs/"+id+"/history", "")
	r.expect(t, 200)
	if strings.Contains(r.body, "hunter") || r.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%v: a secret is in %s", r.header, r.body)
	}
	var history struct{ Changes []answeredChange }
	must(t, json.Unmarshal([]byte(r.body), &history))
	return history.Changes
}

func (s *studio) rollback(t *testing.T, id, tag string, header ...string) reply {
	t.Helper()
	return s.do(t, http.MethodPost, "/configs/"+id+"/actions/rollback", fmt.Sprintf(`{"etag":%q}`, tag), header...)
}

func TestHistoryAndRollback(t *testing.T) {
	s := start(t)
	s.do(t, http.MethodGet, "/configs/a/history", "").problem(t, 404, `"a" was not found`)
	first := s.put(t, "a", hosted("AK1", "hunter1")).expect(t, 200)
	s.token = s.mint(t, issuer.Claims{Kind: auth.Developer, Subject: "olga", Project: "demo", Role: "Owner"})
	second := s.put(t, "a", hosted("AK2", "hunter2")).expect(t, 200)
	all := s.history(t, "a")
	if len(all) != 2 || all[0].ETag != second || all[0].By != "olga" || !all[0].Current || all[1].ETag != first ||
		all[1].By != "studio" || all[1].Current || all[0].Deleted || !strings.HasSuffix(all[0].Changed, "Z") {
		t.Fatalf("the history is %+v", all)
	}
	same(t, string(all[0].Config), hosted("AK2", mask))
	same(t, string(all[1].Config), hosted("AK1", mask))

	// No change is lost, and what is there already stays.
	s.rollback(t, "a", first, "If-Match", first).problem(t, 409, "ETag")
	s.rollback(t, "a", second, "If-Match", first).problem(t, 409, "ETag")
	if tag := s.rollback(t, "a", second, "If-Match", second).expect(t, 200); tag != second {
		t.Errorf("going to what it is made %s of %s", tag, second)
	}
	back := s.rollback(t, "a", first, "If-Match", second)
	if third := back.expect(t, 200); third == first || third == second {
		t.Errorf("gone back, it has the ETag %s of before", third)
	}
	same(t, back.body, hosted("AK1", mask))
	s.expectKept(t, "a", "AK1", "hunter1")
	if all := s.history(t, "a"); len(all) != 3 || all[0].By != "olga" || !all[0].Current {
		t.Errorf("the history is %+v", all)
	}

	// A config that was deleted comes back.
	s.delete(t, "a").expect(t, 204)
	all = s.history(t, "a")
	if len(all) != 4 || !all[0].Deleted || all[0].Current || all[0].By != "olga" || all[0].Config != nil {
		t.Fatalf("the history is %+v", all)
	}
	s.rollback(t, "a", all[0].ETag).problem(t, 400, "is the deletion")
	s.rollback(t, "a", second, "If-Match", "*").problem(t, 409, "If-Match")
	s.rollback(t, "a", second, "If-None-Match", "*").expect(t, 200)
	s.expectKept(t, "a", "AK2", "hunter2")
	s.rollback(t, "a", first, "If-None-Match", "*").problem(t, 409, "ETag")

	s.rollback(t, "a", `"77"`).problem(t, 404, "is not kept, those that are: ")
	s.rollback(t, "a", "").problem(t, 400, "etag: missing")
	s.rollback(t, "none", first).problem(t, 404, "not found")
	s.do(t, http.MethodPost, "/configs/a/actions/rollback", `{"to":"5"}`).problem(t, 400, "to")
}

// A config that may not be put any more cannot be gone back to.
func TestRollbackIsCheckedAsAPut(t *testing.T) {
	s := start(t)
	put := func(fleet string) string {
		c := &pb.Config{Id: "a", Function: "duel", Hosting: &pb.Hosting{Fleet: fleet}}
		revision, _, err := s.store.PutConfig(t.Context(), "demo", c, -1)
		must(t, err)
		return etag(revision)
	}
	theirs := put("theirs")
	ours := put("ours")
	s.rollback(t, "a", theirs).refuses(t, "badHosting", "may not use fleet theirs")
	s.put(t, "a", with("")).expect(t, 200)
	s.rollback(t, "a", ours).expect(t, 200)
}

func TestRollbackToKeysThatCannotBeDecrypted(t *testing.T) {
	s := start(t)
	other := filepath.Join(t.TempDir(), "keys")
	_, err := keyring.Add(other, time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC))
	must(t, err)
	ring, err := keyring.Open(other, time.Now)
	must(t, err)
	c := &pb.Config{Id: "a", Function: "duel", Hosting: &pb.Hosting{Profile: "p"}}
	c.Hosting.Keys, err = ring.SealHosting("demo", "a", &pb.HostingKeys{Access: "AK", Secret: "hunter2"})
	must(t, err)
	revision, _, err := s.store.PutConfig(t.Context(), "demo", c, -1)
	must(t, err)
	now := s.put(t, "a", hosted("AK", "hunter3")).expect(t, 200)
	s.rollback(t, "a", etag(revision)).problem(t, 503, "cannot be decrypted")
	same(t, string(s.history(t, "a")[1].Config), hosted(mask, mask))
	if s.get(t, "a").expect(t, 200) != now {
		t.Error("the config was changed")
	}
}
