package ticket

import "matchmaker.dev/services/internal/response"

// createResponse is CreateTicketResponse of the contract, written by hand: everything but the id is always the same,
// and the id has nothing to escape. Status is a leftover of an older way to report errors and always null.
func createResponse(id string) []byte { return []byte(`{"id":"` + id + `","status":null}`) }

// heldResponse is the answer to a create that waited: CreateTicketResponse and TicketResponse of the contract in one.
type heldResponse struct {
	response.Ticket
	Status *string `json:"status"`
}
