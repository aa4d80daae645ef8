package e2e

import (
	"net/http"
	"testing"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/internal/issuer"
)

// backfill: a game server's backfill ticket lives as long as the server wants,
// and counts its changes.
func backfill(t *testing.T, p *project) {
	server := p.as(t, issuer.Claims{Kind: auth.Server, Subject: "server"})
	id, err := server.CreateBackfill(within(t), client.BackfillRequest{
		Connection: "203.0.113.7:7777", Attributes: attributes{"seats": 3}, Properties: map[string][]byte{"map": []byte("harbour")},
	})
	if err != nil {
		t.Fatal(err)
	}
	first, err := server.ApproveBackfill(within(t), id)
	if err != nil {
		t.Fatal(err)
	}
	if first.ID != id || first.Connection != "203.0.113.7:7777" || first.Attributes["seats"] != 3 || string(first.Properties["map"]) != "harbour" {
		t.Errorf("got %+v, want what was created", first)
	}
	changed := *first
	changed.Attributes = attributes{"seats": 2}
	if err := server.UpdateBackfill(within(t), changed); err != nil {
		t.Fatal(err)
	}
	second, err := server.ApproveBackfill(within(t), id)
	if err != nil {
		t.Fatal(err)
	}
	if second.RecordVersion <= first.RecordVersion || second.Attributes["seats"] != 2 || second.Created != first.Created {
		t.Errorf("got %+v after %+v, want a later version with two seats", second, first)
	}
	if err := server.DeleteBackfill(within(t), id); err != nil {
		t.Fatal(err)
	}
	if _, err := server.ApproveBackfill(within(t), id); client.Status(err) != http.StatusNotFound {
		t.Errorf("a deleted backfill ticket is approved: want 404, got %v", err)
	}
}
