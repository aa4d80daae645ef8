package main

import (
	"bytes"
	"fmt"
	"net/http"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/test/workload"
)

// duel is the name of the function and of the config.
const duel = "duel"

// anybody is the config of most measurements. Any two players match whose skills are not more than reach apart, so that
// players wait only for the service.
func anybody(hosted bool) client.Config {
	config := workload.Config(duel, "skill", 1e12, map[string]any{"attribute": "skill", "window": reach, "widen": 0})
	if hosted {
		config.Hosting = &client.Hosting{Profile: "bench", FleetID: "instant"}
	}
	return config
}

// reach is more than the difference in skill of any two players that are to be matched.
const reach = 3000

// far is the skill of the player i of a crowd in which no player matches another.
func far(i int) float64 { return float64(10*reach + (reach+1)*i) }

// held is the header of requests that are held until their ticket is assigned.
const held = "Prefer: wait=30\r\n"

// streamed is the header of requests for a stream.
const streamed = "Accept: text/event-stream\r\n"

// creation is a request for a new ticket, in a queue unless that is "".
func creation(host, project, token, header, queue string, skill float64) []byte {
	body := fmt.Sprintf(`{"attributes":{"skill":%g}}`, skill)
	if queue != "" {
		body = fmt.Sprintf(`{"queues":[%q],%s`, queue, body[1:])
	}
	return post(host, "/"+project+"/matchmaking/api/v1/tickets", token, header, body)
}

// awaiting is a request for a ticket that is held.
func awaiting(host, project, token, id string) []byte {
	return get(host, "/"+project+"/matchmaking/api/v1/tickets?id="+id, token, held)
}

// remove is a request that deletes a ticket.
func remove(host, project, token, id string) []byte {
	return request(http.MethodDelete, host, "/"+project+"/matchmaking/api/v1/tickets?id="+id, token, "")
}

// checkCreated returns an error unless the answer names a created ticket.
func checkCreated(status int, body []byte) error {
	if status != http.StatusCreated {
		return fmt.Errorf("a create was answered %d: %s", status, body)
	}
	return nil
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
