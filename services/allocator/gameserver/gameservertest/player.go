// Package gameservertest plays the players of package gameserver.
package gameservertest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"matchmaker.dev/services/allocator/gameserver"
)

// resend is how long an answer may take before the player says hello again. Datagrams get lost, and the first one may
// arrive before the server runs.
const resend = 200 * time.Millisecond

// ErrStranger means that the server does not expect the ticket.
var ErrStranger = errors.New("the game server does not know this ticket")

// Hello says hello to the server at address, host:port, until it answers or ctx ends. It notices the end of ctx within
// 200 ms. The error is ErrStranger when the ticket is not of the server's match.
func Hello(ctx context.Context, address, ticket string) (*gameserver.Welcome, error) {
	return ask(ctx, address, "hello", ticket)
}

// Meet is Hello for a player that joins a running game. The server learns of the ticket by its approval, whose answer
// may come after the player got the connection. So Meet asks again, until the server knows the ticket or ctx
// ends.
func Meet(ctx context.Context, address, ticket string) (*gameserver.Welcome, error) {
	for {
		w, err := Hello(ctx, address, ticket)
		if !errors.Is(err, ErrStranger) {
			return w, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("game server at %s: %w: %w", address, context.Cause(ctx), err)
		case <-time.After(resend):
		}
	}
}

// Bye tells the server at address that the ticket's player leaves, until it answers or ctx ends.
func Bye(ctx context.Context, address, ticket string) error {
	if _, err := ask(ctx, address, "bye", ticket); !errors.Is(err, ErrStranger) {
		return err
	}
	return nil // it has left
}

// Won tells the server that the ticket's team has won, until it has reported the result or ctx ends.
func Won(ctx context.Context, address, ticket string) error {
	_, err := ask(ctx, address, "won", ticket)
	return err
}

// ask sends a datagram with one member until the server answers or ctx ends.
func ask(ctx context.Context, address, member, ticket string) (*gameserver.Welcome, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "udp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	question, err := json.Marshal(map[string]string{member: ticket})
	if err != nil {
		return nil, err
	}
	for {
		w, err := exchange(conn, question)
		if err == nil || errors.Is(err, ErrStranger) {
			return w, err
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("game server at %s: %w: %w", address, context.Cause(ctx), err)
		}
	}
}

// exchange sends the question once and waits for the answer. It also waits when the port is closed, so that its caller
// can call again at once.
func exchange(conn net.Conn, question []byte) (*gameserver.Welcome, error) {
	_, failure := conn.Write(question)
	if err := conn.SetReadDeadline(time.Now().Add(resend)); err != nil {
		return nil, err
	}
	answer := make([]byte, 512)
	for {
		n, err := conn.Read(answer)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, cmp.Or(failure, err)
		case err != nil:
			failure = err // the port is closed
			continue
		}
		var got struct {
			gameserver.Welcome
			Error string `json:"error"`
		}
		if json.Unmarshal(answer[:n], &got) != nil {
			continue
		}
		if got.Error == "stranger" {
			return nil, ErrStranger
		}
		if got.Ticket != "" {
			return &got.Welcome, nil
		}
	}
}
