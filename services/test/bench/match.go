package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/test/launch"
)

// prepare uploads the function to a project and returns when it runs.
func (b *bench) prepare(ctx context.Context, s *launch.Matchmaker, project string) (*client.Client, error) {
	studio, err := s.Client(auth.Developer, project, "studio")
	if err != nil {
		return nil, err
	}
	return studio, s.Upload(ctx, studio, "duel", b.Function)
}

// putConfig starts matchmaking. Any two tickets match, so that players wait only for the service.
func putConfig(ctx context.Context, studio *client.Client, hosted bool) error {
	least, most := 0.0, 3000.0
	config := client.Config{
		Matchmaking: client.Matchmaking{
			Name:           "Duel",
			TargetFunction: &client.FunctionTarget{Name: "duel", Version: "1"},
			Config:         json.RawMessage(`{"attribute": "skill", "window": 3000}`),
		},
		Pools: map[string][]client.PoolFilter{"everyone": {{Attribute: "skill", Min: &least, Max: &most}}},
	}
	if hosted {
		config.Hosting = &client.Hosting{Profile: "bench", FleetID: "instant"}
	}
	_, err := studio.PutConfig(ctx, "duel", config, "")
	return err
}

// held is the header of requests that are held until their ticket is assigned.
const held = "Prefer: wait=30\r\n"

// awaiting is a request for a ticket that is held.
func awaiting(host, project, token, id string) []byte {
	return get(host, "/"+project+"/matchmaking/api/v1/tickets?id="+id, token, held)
}

// idOf is the id at the beginning of the answer to a create.
func idOf(status int, body []byte) (string, error) {
	if err := checkCreated(status, body); err != nil {
		return "", err
	}
	rest, ok := bytes.CutPrefix(body, []byte(`{"id":"`))
	if id, _, closed := bytes.Cut(rest, []byte{'"'}); ok && closed {
		return string(id), nil
	}
	return "", fmt.Errorf("an answer to a create without an id: %s", body)
}

// checkAssigned returns an error unless the answer is a ticket with an assignment. It does not decode the JSON, since
// decoding thousands of answers a second would take a good part of the machine.
func checkAssigned(status int, body []byte, hosted bool) error {
	if status != http.StatusOK {
		return fmt.Errorf("a ticket was answered %d: %s", status, body)
	}
	_, assignment, ok := bytes.Cut(body, []byte(`"assignment":{`))
	_, connection, there := bytes.Cut(assignment, []byte(`"connection":"`))
	there = there && !bytes.HasPrefix(connection, []byte{'"'})
	failed := bytes.Contains(assignment, []byte(`"error":"`)) && !bytes.Contains(assignment, []byte(`"error":""`))
	if !ok || failed || there != hosted {
		return fmt.Errorf("not the assignment that was expected: %s", body)
	}
	return nil
}
