package party_test

import (
	"encoding/base64"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/receipt"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/platform/keyring"
	"matchmaker.dev/services/party"
)

// Each member has the latency that its own receipt proves, and keeps it until it says another one.
func TestReceiptsOfMembers(t *testing.T) {
	dir := t.TempDir()
	keys, file := filepath.Join(dir, "eu.keys"), filepath.Join(dir, "regions.yaml")
	_, err := keyring.Add(keys, time.Now())
	must(t, err)
	must(t, os.WriteFile(file, []byte("- {region: eu, udp: 'a:1', keys: eu.keys}"), 0o600))
	ring, err := keyring.Open(keys, time.Now)
	must(t, err)
	derived, err := ring.Derived(receipt.Purpose)
	must(t, err)
	of := func(rtt time.Duration) string {
		raw := receipt.NewSigner("eu", derived[0]).Append(nil, netip.MustParseAddr("127.0.0.1"), rtt, time.Now())
		return `"receipts":["` + base64.RawURLEncoding.EncodeToString(raw) + `"]`
	}
	w := startAt(t, nil, func(o *party.Options) {
		o.Regions, err = receipt.Open(receipt.Settings{File: file, Age: time.Minute}, time.Now)
		must(t, err)
	})
	w.set(&pb.SetterRule{Name: "ping", SetBy: definition.ByBeacon, Claim: "eu"})
	ada := issuer.Claims{Kind: auth.Player, Subject: "ada"}
	bob := issuer.Claims{Kind: auth.Player, Subject: "bob"}
	w.answers(ada, "POST", "", `{"attributes":{"ping":1}}`, 403, "attributes.ping: receipts of beacons set this attribute")
	p := w.answers(ada, "POST", "", `{`+of(20*time.Millisecond)+`}`, 201, "")
	w.answers(bob, "POST", "/members", `{"code":"`+p.Code+`","receipts":["AAAA"]}`, 400, "receipts.0: it is no receipt")
	w.answers(bob, "POST", "/members", `{"code":"`+p.Code+`",`+of(90*time.Millisecond)+`}`, 200, "")
	w.answers(ada, "PUT", "/"+p.ID+"/members/ada", `{"attributes":{"mood":1}}`, 200, "")
	w.answers(bob, "PUT", "/"+p.ID+"/members/bob", `{`+of(30*time.Millisecond)+`}`, 200, "")
	searches := w.answers(ada, "PUT", "/"+p.ID+"/search", `{}`, 200, "")
	w.ticketed(searches, map[string]map[string]float64{"ada": {"ping": 20, "mood": 1}, "bob": {"ping": 30}})
}
