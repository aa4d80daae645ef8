package ticket_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchmaker.dev/pkg/client"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/beacon"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/receipt"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/platform/keyring"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/ticket"
)

// withBeacon starts replicas that believe a beacon of the region eu, by a clock that add moves.
func withBeacon(t *testing.T) (r *replicas, api *client.Client, add func(time.Duration)) {
	t.Helper()
	dir, begin := t.TempDir(), time.Now()
	keys := filepath.Join(dir, "eu.keys")
	_, err := keyring.Add(keys, begin)
	must(t, err)
	one, err := beacon.New(t.Context(), beacon.Options{
		Settings: beacon.Settings{Region: "eu", UDP: "127.0.0.1:0", Keys: keys, Rate: 1e6, Burst: 1e6},
		Log:      slog.New(slog.DiscardHandler), Wall: time.Now, Elapsed: func() time.Duration { return time.Since(begin) },
	})
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- one.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		must(t, <-ended)
	})
	file := filepath.Join(dir, "regions.yaml")
	must(t, os.WriteFile(file, []byte("- {region: eu, udp: '"+one.Addr().String()+"', keys: eu.keys}\n"+
		"- {region: us, udp: 'us.example:3075', protocol: playfab}\n"), 0o600))
	var later time.Duration
	regions, err := receipt.Open(receipt.Settings{File: file, Age: 10 * time.Minute,
		Proxies: web.Proxies{Trusted: "127.0.0.0/8"}}, func() time.Time { return time.Now().Add(later) })
	must(t, err)
	r = startWith(t, state.Options{}, func(o *ticket.Options) { o.Regions = regions })
	base, _, _ := strings.Cut(r.urls[0], "/demo/")
	api, err = client.New(client.Options{URL: base, Project: "demo", Token: client.StaticToken(r.token)})
	must(t, err)
	return r, api, func(d time.Duration) { later += d }
}

// What a beacon measured is an attribute, and in a property, of a ticket with its receipt. Players set neither.
func TestReceiptsAreBelieved(t *testing.T) {
	r, api, add := withBeacon(t)
	r.set(t, &pb.ProjectSettings{
		Attributes: []*pb.SetterRule{
			{Name: "latency-eu", SetBy: "beacon", Claim: "eu"}, {Name: "latency-us", SetBy: "beacon", Claim: "us"},
			{Name: "skill", SetBy: "claim", Claim: "skill"},
		},
		Properties: []*pb.SetterRule{{Name: "latency", SetBy: "beacon"}},
	})
	found, err := api.ListRegions(t.Context())
	must(t, err)
	if len(found.Regions) != 2 || found.Regions[0].Name != "eu" || found.Regions[1].Protocol != "playfab" ||
		found.ReceiptSeconds != 600 {
		t.Fatalf("%+v", found)
	}
	measured := client.MeasureRegions(t.Context(), found.Regions[:1], client.MeasureOptions{})
	receipts := client.Receipts(measured)
	if len(receipts) != 1 {
		t.Fatalf("%+v", measured)
	}
	ms := float64(measured[0].RTT.Microseconds()) / 1000
	id, err := api.CreateTicket(t.Context(), client.TicketRequest{
		Attributes: map[string]float64{"mood": 1}, Receipts: receipts})
	must(t, err)
	got, err := api.GetTicket(t.Context(), id)
	must(t, err)
	if diff := cmp.Diff(map[string]float64{"mood": 1, "latency-eu": ms}, got.Attributes); diff != "" {
		t.Error(diff)
	}
	text, err := json.Marshal(map[string]float64{"eu": ms})
	must(t, err)
	if string(got.Properties["latency"]) != string(text) {
		t.Errorf("latency is %s, want %s", got.Properties["latency"], text)
	}

	// Together with claims, and for the player of the ticket as well.
	skilled := r.mint(t, issuer.Claims{Kind: auth.Player, Subject: "ada", Further: claims{"skill": 7}})
	body := `{"players":[{"id":"ada"}],"receipts":["` + receipts[0] + `"]}`
	if status, got, detail := r.post(t, 1, skilled, body); status != 201 || got["latency-eu"] != ms || got["skill"] != 7 {
		t.Errorf("%d %v %s", status, got, detail)
	}

	service := r.mint(t, issuer.Claims{Kind: auth.Service, Subject: "lobby", Scope: auth.ScopeAct})
	with := func(receipt string) string { return `{"receipts":["` + receipt + `"]}` }
	forged := receipts[0][:20] + "AAAA" + receipts[0][24:] // three of the eight bytes of the network's digest
	for _, tt := range []struct {
		token, body, from string
		status            int
		want              string
	}{
		{r.token, `{"attributes":{"latency-eu":1}}`, "", 403, "attributes.latency-eu: receipts of beacons set this attribute"},
		{r.token, `{"properties":{"latency":"e30="}}`, "", 403, "properties.latency: receipts of beacons set this property"},
		{r.token, with(forged), "", 400, "receipts.0: the beacon of region eu has not signed it"},
		{r.token, with(receipts[0]), "203.0.113.9", 400, "receipts.0: it was measured from another network"},
		{r.token, with("?"), "", 400, "receipts.0: it is not the Base64"},
		{r.token, with(strings.Repeat("A", 96)), "", 400, "receipts.0: 96 characters"},
		{service, with(receipts[0]), "", 400, "receipts: only players send them"},
		{service, `{"attributes":{"latency-eu":1}}`, "", 201, ""},
		{r.token, with(receipts[0]), "127.0.0.77", 201, ""}, // of the same /24
	} {
		headers := []string{auth.OnBehalfOf, "ada"}
		if tt.from != "" {
			headers = append(headers, "X-Forwarded-For", tt.from)
		}
		status, _, detail := r.post(t, 0, tt.token, tt.body, headers...)
		if status != tt.status || !strings.Contains(detail, tt.want) {
			t.Errorf("%.60s: %d %s, want %d %s", tt.body, status, detail, tt.status, tt.want)
		}
	}

	add(11 * time.Minute)
	if status, _, detail := r.post(t, 0, r.token, with(receipts[0])); status != 400 || !strings.Contains(detail, "old") {
		t.Errorf("an old receipt: %d %s", status, detail)
	}
	r.set(t, rules())
	if status, got, detail := r.post(t, 0, r.token, with(receipts[0])); status != 201 || len(got) > 0 {
		t.Errorf("without a rule: %d %v %s", status, got, detail)
	}
}

// A create whose answer was lost is answered with its ticket, also when its receipts are old by then.
func TestRepeatedCreateWithOldReceipts(t *testing.T) {
	r, api, add := withBeacon(t)
	r.set(t, rules(&pb.SetterRule{Name: "latency-eu", SetBy: "beacon", Claim: "eu"}))
	found, err := api.ListRegions(t.Context())
	must(t, err)
	request := client.TicketRequest{IdempotencyKey: "k",
		Receipts: client.Receipts(client.MeasureRegions(t.Context(), found.Regions[:1], client.MeasureOptions{Probes: 1}))}
	first, err := api.CreateTicket(t.Context(), request)
	must(t, err)
	add(time.Hour)
	again, err := api.CreateTicket(t.Context(), request)
	if err != nil || again != first {
		t.Errorf("%s, %v; want %s", again, err, first)
	}
	request.IdempotencyKey = "other"
	if _, err := api.CreateTicket(t.Context(), request); client.Status(err) != http.StatusBadRequest {
		t.Errorf("with another key: %v", err)
	}
}

func TestNoRegions(t *testing.T) {
	r := start(t)
	base, _, _ := strings.Cut(r.urls[0], "/demo/")
	api, err := client.New(client.Options{URL: base, Project: "demo", Token: client.StaticToken(r.token)})
	must(t, err)
	if found, err := api.ListRegions(t.Context()); err != nil || len(found.Regions) > 0 || found.ReceiptSeconds != 0 {
		t.Errorf("%+v, %v", found, err)
	}
	r.set(t, rules(&pb.SetterRule{Name: "latency-eu", SetBy: "beacon", Claim: "eu"}))
	if status, _, detail := r.post(t, 0, r.token, `{"receipts":["AA"]}`); status != 400 ||
		!strings.Contains(detail, "receipts: this service has no regions") {
		t.Errorf("%d %s", status, detail)
	}
}
