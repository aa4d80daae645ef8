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

	"github.com/google/go-cmp/cmp"

	"matchmaker.dev/services/internal/fault"
)

func TestFinal(t *testing.T) {
	tests := []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("connection reset"), false},
		{context.DeadlineExceeded, false},
		{fault.New(fault.Internal, "x"), false},
		{fault.New(fault.Unavailable, "x"), false},
		{fault.New(fault.Limited, "x"), false},
		{fault.New(fault.Invalid, "x"), true},
		{fault.New(fault.Unauthenticated, "x"), true},
		{fault.New(fault.Forbidden, "x"), true},
		{fault.New(fault.NotFound, "x"), true},
		{fault.New(fault.Conflict, "x"), true},
		{fault.New(fault.TooLarge, "x"), true},
		{fmt.Errorf("fleet blue: %w", fault.New(fault.Conflict, "full")), true},
	}
	for _, test := range tests {
		if got := Final(test.err); got != test.want {
			t.Errorf("Final(%v) = %v, want %v", test.err, got, test.want)
		}
	}
}

func TestSecretsStaySecret(t *testing.T) {
	ref := Ref{Match: "m", Hosting: Hosting{Access: "hunter1", Secret: "hunter2"}}
	var out bytes.Buffer
	fmt.Fprintf(&out, "%v %+v %#v %s %q\n", ref, ref, ref, ref, ref.Hosting.Secret)
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

func TestTickets(t *testing.T) {
	r := Request{Teams: []Team{{"red", []string{"a", "b"}}, {"empty", nil}, {"blue", []string{"c"}}}}
	if diff := cmp.Diff([]string{"a", "b", "c"}, r.Tickets()); diff != "" {
		t.Error(diff)
	}
}

func TestStatusNames(t *testing.T) {
	if got := fmt.Sprint(Unknown, Pending, Allocated, Failed, Status(99)); got != "unknown pending allocated failed failed" {
		t.Error(got)
	}
}
