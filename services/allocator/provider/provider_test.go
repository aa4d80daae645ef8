package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/allocator/transport"
)

func TestFinal(t *testing.T) {
	tests := []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("connection reset"), false},
		{context.DeadlineExceeded, false},
		{Fail(Contention, "x"), false},
		{Fail(FleetEmpty, "x"), false},
		{Fail(MaximumZero, "x"), true},
		{Fail(Refused, "x"), true},
		{Fail(Contention, "x").Because(Fail(Refused, "y")), false},
		{fmt.Errorf("fleet blue: %w", Fail(Refused, "unknown")), true},
	}
	for _, test := range tests {
		if got := Final(test.err); got != test.want {
			t.Errorf("Final(%v) = %v, want %v", test.err, got, test.want)
		}
	}
}

func TestSecretsStaySecret(t *testing.T) {
	ref := Request{Ref: Ref{Match: "m", Hosting: Hosting{Access: "hunter1", Secret: "hunter2"}}, Token: "hunter3"}
	var out bytes.Buffer
	fmt.Fprintf(&out, "%v %+v %#v %s %q\n", ref, ref, ref, ref.Ref, ref.Hosting.Secret)
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "ref", ref, "secret", ref.Hosting.Secret)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "ref", ref)
	if err := json.NewEncoder(&out).Encode(ref); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "hunter") {
		t.Errorf("a secret is readable in:\n%s", &out)
	}
	if string(ref.Hosting.Secret) != "hunter2" {
		t.Error("the secret itself is lost")
	}
}

func TestStatusNames(t *testing.T) {
	got := fmt.Sprint(Unknown, Pending, Allocated, Failed, Gone, Status(99))
	if got != "unknown pending allocated failed gone invalid" {
		t.Error(got)
	}
}

func TestAllocationIsTheMatchs(t *testing.T) {
	a := Ref{Project: "p", Match: "m"}.Allocation()
	for _, same := range []Ref{
		{Project: "p", Match: "m"}, {Project: "p", Match: "m", Hosting: Hosting{Fleet: "f", Secret: "s"}},
	} {
		if same.Allocation() != a {
			t.Errorf("%+v has the id %s, want %s", same, same.Allocation(), a)
		}
	}
	for _, other := range []Ref{{Project: "q", Match: "m"}, {Project: "p", Match: "n"}, {Project: "pm"}} {
		if other.Allocation() == a {
			t.Errorf("%+v has the id of another match", other)
		}
	}
	if want := "b84093f3-a287-520a-aaae-6eabca7db314"; a != want {
		t.Errorf("the id is %s, want %s: servers that are out would not be found again", a, want)
	}
}

func TestError(t *testing.T) {
	cause := errors.New("status 429")
	err := fmt.Errorf("allocate: %w", Fail(Contention, "fleet %q is busy", "blue").Because(cause).After(time.Second))
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Detail != `fleet "blue" is busy` || e.RetryAfter != time.Second || !errors.Is(err, cause) ||
		ReasonOf(err) != Contention {
		t.Errorf("%#v", e)
	}
	if err.Error() != `allocate: fleet "blue" is busy: status 429` {
		t.Error(err)
	}
}

func TestPayload(t *testing.T) {
	r := Request{Ref: Ref{Project: "p", Match: "m", Hosting: Hosting{Access: "hunter1", Secret: "hunter2"}}, Config: "c",
		Teams: []Team{{"red", []string{"a", "b"}, [][]string{{"ada"}, {"bob", "cy"}}}}, Properties: []byte(`{"map": 1}`),
		Backfill: "b", Token: "t"}
	text, err := r.Payload()
	want := `{"allocation":"` + r.Allocation() + `","project":"p","match":"m","config":"c",` +
		`"teams":[{"name":"red","tickets":["a","b"],"players":[["ada"],["bob","cy"]]}],` +
		`"matchProperties":{"map":1},"backfillTicket":"b","token":"t"}`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v, want %s", text, err, want)
	}
	if text, err = r.PayloadWithin(len(want)); err != nil || string(text) != want {
		t.Errorf("%s, %v, want %s", text, err, want)
	}
	without := strings.Replace(want, `,"players":[["ada"],["bob","cy"]]`, "", 1)
	for _, most := range []int{len(want) - 1, len(without), 0} {
		if text, err = r.PayloadWithin(most); err != nil || string(text) != without || r.Teams[0].Players == nil {
			t.Errorf("within %d: %s, %v, want %s", most, text, err, without)
		}
	}
	r.Properties = []byte("{")
	if _, err := r.Payload(); ReasonOf(err) != Refused {
		t.Errorf("properties that are no JSON: %v", err)
	}
}

// What a hosting system says of the allocation is told. The text of Kubernetes is what most installations see first.
func TestMessagesAreToldUnlessTheyRepeatTheMatch(t *testing.T) {
	r := Request{Ref: Ref{Project: "p", Match: "m"}, Config: "c",
		Teams:      []Team{{"red", []string{"a", "b"}, [][]string{{"ada-lovelace"}, {"bob", "cy"}}}},
		Properties: []byte(`{"map": "harbour-district"}`), Token: "header.claims.signature"}
	payload, err := r.Payload()
	if err != nil {
		t.Fatal(err)
	}
	for text, told := range map[string]bool{
		`gameserverallocations.allocation.agones.dev is forbidden: User "mm" cannot create it`: true,
		"there is no allocation " + r.Allocation():                                             true,
		"bad player ada-lovelace":                                                              false,
		"no such map: harbour-district":                                                        false,
		"bad body: " + string(payload[:200]):                                                   false,
		"bad token header.claims":                                                              false,
	} {
		if got := transport.Redact(text, r.Secret()); (got == text) != told {
			t.Errorf("%q is told as %q", text, got)
		}
	}
}
