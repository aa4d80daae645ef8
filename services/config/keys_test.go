package config

import (
	"bytes"
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/platform/keyring"
)

// hosted is a config with hosting keys.
func hosted(access, secret string) string {
	return with(`,"hosting":{"Profile":"p","Access":"` + access + `","Secret":"` + secret + `"}`)
}

// kept is the hosting keys that a config has.
func (s *studio) kept(t *testing.T, id string) *pb.HostingKeys {
	t.Helper()
	c, err := s.store.Config(t.Context(), "demo", id)
	must(t, err)
	keys, err := s.ring.OpenHosting("demo", id, c.GetHosting())
	must(t, err)
	return keys
}

func (s *studio) expectKept(t *testing.T, id, access, secret string) {
	t.Helper()
	if got := s.kept(t, id); got.GetAccess() != access || got.GetSecret() != secret {
		t.Errorf("kept are %v, want %s and %s", got, access, secret)
	}
}

func TestKeysAreStoredEncryptedAndShownMasked(t *testing.T) {
	s := start(t)
	for _, r := range []reply{s.put(t, "a", hosted("AKID123", "hunter2")), s.get(t, "a")} {
		r.expect(t, 200)
		same(t, r.body, hosted("AKID123", mask))
	}
	s.expectKept(t, "a", "AKID123", "hunter2")
	c, err := s.store.Config(t.Context(), "demo", "a")
	must(t, err)
	text, err := proto.Marshal(c)
	must(t, err)
	if bytes.Contains(text, []byte("hunter2")) || bytes.Contains(text, []byte("AKID123")) {
		t.Errorf("a key is readable in %q", text)
	}
	if _, err := s.ring.OpenHosting("demo", "b", c.GetHosting()); err == nil {
		t.Error("the keys of one config are good for another")
	}
	if _, err := s.ring.OpenHosting("other", "a", c.GetHosting()); err == nil {
		t.Error("the keys of one project are good for another")
	}
}

func TestMaskStandsForWhatIsThere(t *testing.T) {
	s := start(t)
	s.put(t, "a", hosted("AK1", "hunter2")).expect(t, 200)
	again := s.get(t, "a")
	s.put(t, "a", again.body, "If-Match", again.expect(t, 200)).expect(t, 200)
	s.expectKept(t, "a", "AK1", "hunter2")
	s.put(t, "a", hosted("AK2", mask)).expect(t, 200)
	s.expectKept(t, "a", "AK2", "hunter2")
	s.put(t, "a", hosted(mask, "hunter3")).expect(t, 200)
	s.expectKept(t, "a", "AK2", "hunter3")
	s.put(t, "a", hosted("", mask)).expect(t, 200)
	s.expectKept(t, "a", "", "hunter3")
	s.put(t, "a", hosted(mask, mask)).refuses(t, "badHosting", `hosting.Access: "********" stands for`)
	s.put(t, "a", hosted("AK2", mask), "If-Match", `"1"`).problem(t, 409, "ETag")
	s.put(t, "a", with("")).expect(t, 200)
	s.put(t, "a", hosted("", mask)).refuses(t, "badHosting", "hosting.Secret")
	s.put(t, "b", hosted("AK", mask)).refuses(t, "badHosting", "hosting.Secret")
	s.do(t, http.MethodPost, "/configs", hosted("AK", mask)).refuses(t, "badHosting", "hosting.Secret")
}

// A PUT that does not speak of the secret keeps it while the access key stays.
func TestSecretThatIsNotSentIsKept(t *testing.T) {
	s := start(t)
	s.put(t, "a", hosted("AK1", "hunter2")).expect(t, 200)
	for _, keeps := range []string{`"Access":"AK1"`, `"Access":"AK1","Secret":null`, `"Access":"` + mask + `"`} {
		r := s.put(t, "a", with(`,"hosting":{"Profile":"other",`+keeps+`}`))
		r.expect(t, 200)
		same(t, r.body, with(`,"hosting":{"Profile":"other","Access":"AK1","Secret":"`+mask+`"}`))
		s.expectKept(t, "a", "AK1", "hunter2")
	}
	for _, drops := range []string{`{"Access":"AK1","Secret":""}`, `{"Access":"AK2"}`, `{"Access":""}`, `{}`} {
		s.put(t, "a", hosted("AK1", "hunter2")).expect(t, 200)
		s.put(t, "a", with(`,"hosting":`+drops)).expect(t, 200)
		if got := s.kept(t, "a"); got.GetSecret() != "" {
			t.Errorf("%s kept the secret", drops)
		}
	}
	s.put(t, "a", hosted("", "hunter4")).expect(t, 200)
	s.put(t, "a", with(`,"hosting":{"FleetId":"f"}`)).expect(t, 200) // no access key before, and none now
	s.expectKept(t, "a", "", "hunter4")
}

// A PUT that keeps a key while another PUT changes it keeps the new one.
func TestMaskStandsForTheLatestKey(t *testing.T) {
	s := start(t)
	s.put(t, "a", hosted("AK", "old")).expect(t, 200)
	const many = 8
	done := make(chan reply, 2*many)
	for range many {
		go func() { done <- s.put(t, "a", hosted("AK", mask)) }()
		go func() { done <- s.put(t, "a", hosted("AK", "new")) }()
	}
	for range 2 * many {
		// A config that changes faster than it can be put answers 409, and was not put.
		if r := <-done; r.status != 200 && r.status != 409 {
			t.Errorf("status %d: %s", r.status, r.body)
		}
	}
	s.expectKept(t, "a", "AK", "new")
}

func TestKeysOutliveARotation(t *testing.T) {
	s := start(t)
	s.put(t, "a", hosted("AK", "hunter2")).expect(t, 200)
	_, err := keyring.Add(s.keys, time.Now())
	must(t, err)
	same(t, s.get(t, "a").body, hosted("AK", mask))
	s.put(t, "a", hosted("AK", mask)).expect(t, 200)
	c, err := s.store.Config(t.Context(), "demo", "a")
	must(t, err)
	if !s.ring.Current(c.GetHosting().GetKeys()) {
		t.Error("what was written is encrypted with the old key")
	}
	s.expectKept(t, "a", "AK", "hunter2")
}

func TestKeysThatCannotBeDecrypted(t *testing.T) {
	s := start(t)
	s.put(t, "a", hosted("AK", "hunter2")).expect(t, 200)
	c, err := s.store.Config(t.Context(), "demo", "a")
	must(t, err)
	other := filepath.Join(t.TempDir(), "keys")
	_, err = keyring.Add(other, time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC))
	must(t, err)
	ring, err := keyring.Open(other, time.Now)
	must(t, err)
	c.Hosting.Keys, err = ring.SealHosting("demo", "a", &pb.HostingKeys{Access: "AK", Secret: "hunter2"})
	must(t, err)
	_, _, err = s.store.PutConfig(t.Context(), "demo", c, -1)
	must(t, err)
	same(t, s.get(t, "a").body, hosted(mask, mask))
	s.put(t, "a", hosted("AK", mask)).problem(t, 503, "cannot be decrypted")
	s.put(t, "a", hosted("AK", "hunter3")).expect(t, 200)
	s.expectKept(t, "a", "AK", "hunter3")
}

func TestWithoutKeysToEncryptWith(t *testing.T) {
	s := &service{}
	c := &pb.Config{Id: "a", Hosting: new(pb.Hosting)}
	if err := s.seal("demo", c, &definition.HostingKeys{Secret: "hunter2", SecretGiven: true}, nil); err == nil ||
		!strings.Contains(err.Error(), "setting hosting-keys") {
		t.Errorf("%v", err)
	}
	if err := s.seal("demo", c, new(definition.HostingKeys), nil); err != nil || len(c.GetHosting().GetKeys()) > 0 {
		t.Errorf("hosting without keys: %v, %v", c, err)
	}
	if got := s.show(context.Background(), "demo", c); got.GetSecret() != "" {
		t.Errorf("%v", got)
	}
}

// refuses checks that the reply is a list of faults with one of a code and words.
func (r reply) refuses(t *testing.T, code, words string) {
	t.Helper()
	r.expect(t, 400)
	if !strings.Contains(r.body, `"`+code+`"`) || !strings.Contains(r.body, strings.ReplaceAll(words, `"`, `\"`)) {
		t.Errorf("%s, want %s with %q", r.body, code, words)
	}
}
