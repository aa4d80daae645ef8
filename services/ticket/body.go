package ticket

// createResponse is CreateTicketResponse of the contract, written by hand: all but the id, which has nothing to escape,
// is the same every time. Status is a leftover of an older way to report errors: always null.
func createResponse(id string) []byte { return []byte(`{"id":"` + id + `","status":null}`) }
