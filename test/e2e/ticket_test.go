package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/allocator/gameserver"
	"matchmaker.dev/services/allocator/gameserver/gameservertest"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
)

// ticket is a ticket that was created.
type ticket struct {
	p          *project
	id, player string
}

// client returns a client of the player. A system that was started again may have another URL, so each call returns a
// new one.
func (k *ticket) client() (*client.Client, error) {
	api, _, err := k.p.client(k.claims())
	return api, err
}

func (k *ticket) claims() issuer.Claims { return issuer.Claims{Kind: auth.Player, Subject: k.player} }

func (k *ticket) api(t *testing.T) *client.Client {
	t.Helper()
	return k.p.as(t, k.claims())
}

// attributes of a ticket.
type attributes map[string]float64

// await waits for the ticket's assignment.
func (k *ticket) await(ctx context.Context) (*client.Assignment, error) {
	api, err := k.client()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.player, err)
	}
	got, err := api.Wait(ctx, k.id)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.player, err)
	}
	return got.Assignment, nil
}

// leave deletes the ticket if it waits still.
func (k *ticket) leave(ctx context.Context) {
	if api, err := k.client(); err == nil {
		_ = api.DeleteTicket(ctx, k.id, "") // it may be matched
	}
}

func (k *ticket) result(t *testing.T) *client.Assignment {
	t.Helper()
	got, err := k.await(within(t))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// connection waits for a ticket's assignment, which must be a connection.
func (k *ticket) connection(t *testing.T) string {
	t.Helper()
	a := k.result(t)
	if a.Error != "" || a.Connection == "" {
		t.Fatalf("%s: want a connection, got %+v", k.player, a)
	}
	return a.Connection
}

// now reads the ticket's assignment; nil while it waits.
func (k *ticket) now(t *testing.T) *client.Assignment {
	t.Helper()
	got, err := k.api(t).GetTicket(within(t), k.id)
	if err != nil {
		t.Fatalf("%s: %v", k.player, err)
	}
	return got.Assignment
}

// mustWait fails the test unless the ticket waits.
func (k *ticket) mustWait(t *testing.T) {
	t.Helper()
	if got := k.now(t); got != nil {
		t.Fatalf("%s should still wait, but is assigned %+v", k.player, got)
	}
}

// delete deletes the ticket.
func (k *ticket) delete(t *testing.T) {
	t.Helper()
	if err := k.api(t).DeleteTicket(within(t), k.id, ""); err != nil {
		t.Fatalf("%s: %v", k.player, err)
	}
}

// mustNotExist fails the test unless there is no such ticket.
func (k *ticket) mustNotExist(t *testing.T) {
	t.Helper()
	if got, err := k.api(t).GetTicket(within(t), k.id); client.Status(err) != http.StatusNotFound {
		t.Fatalf("%s: want 404, got %+v, %v", k.player, got, err)
	}
}

// hello says hello to a game server, which must welcome the ticket.
func (k *ticket) hello(t *testing.T, connection string) *gameserver.Welcome {
	t.Helper()
	w, err := gameservertest.Hello(within(t), connection, k.id)
	if err != nil {
		t.Fatalf("%s at %s: %v", k.player, connection, err)
	}
	return w
}

// mustBeStranger fails the test unless the game server refuses the ticket.
func (k *ticket) mustBeStranger(t *testing.T, connection string) {
	t.Helper()
	if _, err := gameservertest.Hello(within(t), connection, k.id); !errors.Is(err, gameservertest.ErrStranger) {
		t.Fatalf("%s at %s: want %v, got %v", k.player, connection, gameservertest.ErrStranger, err)
	}
}

// together fails the test unless two tickets have the same connection, which it returns.
func together(t *testing.T, a, b *ticket) string {
	t.Helper()
	at, bt := a.connection(t), b.connection(t)
	if at != bt {
		t.Fatalf("%s is sent to %s, %s to %s: want them together", a.player, at, b.player, bt)
	}
	return at
}
