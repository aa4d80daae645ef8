package ticket

import "encoding/json"

// createResponse is CreateTicketResponse of the contract, written by hand: everything but the id is always the same,
// and the id has nothing to escape. Status is a leftover of an older way to report errors and always null. unserved are
// the ticket's queues that no config serves.
func createResponse(id string, unserved []string) []byte {
	queues := ""
	if len(unserved) > 0 {
		text, _ := json.Marshal(unserved) // texts cannot fail
		queues = `,"unservedQueues":` + string(text)
	}
	return []byte(`{"id":"` + id + `","status":null` + queues + `}`)
}

// usualAnswer is about how many bytes a ticket has as it is answered.
const usualAnswer = 512
