package response

import (
	"encoding/base64"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
)

// AppendTicket appends the JSON of NewTicket, as package web writes it. Tickets are most of what is answered: this
// takes a fraction of the time that reflection over maps takes.
func AppendTicket(to []byte, t *state.Ticket) ([]byte, error) {
	to, err := appendMembers(to, t)
	return append(to, '}'), err
}

// AppendCreated appends the same with the member status of the answer to a create, which is always null.
func AppendCreated(to []byte, t *state.Ticket) ([]byte, error) {
	to, err := appendMembers(to, t)
	if err == nil && t.Running != "" {
		to, err = jsontext.AppendQuote(append(to, `,"running":`...), t.Running)
	}
	return append(to, `,"status":null}`...), err
}

// AppendFollowed appends what an event of a stream says of a ticket: not what its creator said, which may be long.
func AppendFollowed(to []byte, t *state.Ticket) ([]byte, error) {
	to, err := jsontext.AppendQuote(append(to, `{"id":`...), t.Body.GetId())
	if err != nil {
		return to, err
	}
	if t.Assignment != nil {
		to, err = appendAssignment(append(to, `,"assignment":`...), t)
		return append(to, '}'), err
	}
	to = strconv.AppendInt(append(to, `,"created":`...), t.Body.GetCreated(), 10)
	if to, err = appendNames(to, `,"queues":[`, t.Body.GetQueues()); err != nil {
		return to, err
	}
	if to, err = appendNames(to, `,"unservedQueues":[`, t.Unserved); err != nil {
		return to, err
	}
	to, err = appendAcceptance(to, t.Acceptance)
	return append(appendEstimate(to, t.Estimate), '}'), err
}

func appendMembers(to []byte, t *state.Ticket) ([]byte, error) {
	to, err := jsontext.AppendQuote(append(to, `{"id":`...), t.Body.GetId())
	if err != nil {
		return to, err
	}
	to = append(to, `,"attributes":`...)
	if to, err = appendAttributes(to, t.Body.GetAttributeNames(), t.Body.GetAttributeValues()); err != nil {
		return to, err
	}
	to = append(to, `,"properties":`...)
	if to, err = appendProperties(to, t.Body.GetProperties()); err != nil {
		return to, err
	}
	to = strconv.AppendInt(append(to, `,"created":`...), t.Body.GetCreated(), 10)
	if to, err = appendAssignment(append(to, `,"assignment":`...), t); err != nil {
		return to, err
	}
	if to, err = appendPlayers(to, t.Body.GetPlayers()); err != nil {
		return to, err
	}
	if to, err = appendNames(to, `,"queues":[`, t.Body.GetQueues()); err != nil {
		return to, err
	}
	if to, err = appendNames(to, `,"unservedQueues":[`, t.Unserved); err != nil {
		return to, err
	}
	to, err = appendAcceptance(to, t.Acceptance)
	return appendEstimate(to, t.Estimate), err
}

// appendEstimate appends the member estimate, if there is one.
func appendEstimate(to []byte, e *state.Estimate) []byte {
	if e == nil {
		return to
	}
	to = strconv.AppendInt(append(to, `,"estimate":{"low":`...), e.Low.Milliseconds(), 10)
	to = strconv.AppendInt(append(to, `,"high":`...), e.High.Milliseconds(), 10)
	return append(to, '}')
}

// appendAcceptance appends the member acceptance, if there is one.
func appendAcceptance(to []byte, a *state.Acceptance) ([]byte, error) {
	if a == nil {
		return to, nil
	}
	to, err := jsontext.AppendQuote(append(to, `,"acceptance":{"match":`...), a.Match)
	if err != nil {
		return to, err
	}
	to = strconv.AppendInt(append(to, `,"remaining":`...), a.Left.Milliseconds(), 10)
	to = strconv.AppendInt(append(to, `,"players":`...), int64(a.Players), 10)
	to = strconv.AppendInt(append(to, `,"accepted":`...), int64(a.Accepted), 10)
	to, err = appendList(append(to, `,"unanswered":[`...), a.Open)
	return append(to, '}'), err
}

// appendPlayers appends the member players, if there are any. They have attributes and properties if they have some.
func appendPlayers(to []byte, players []*pb.Player) (_ []byte, err error) {
	if len(players) == 0 {
		return to, nil
	}
	to = append(to, `,"players":[`...)
	for i, p := range players {
		if i > 0 {
			to = append(to, ',')
		}
		if to, err = jsontext.AppendQuote(append(to, `{"id":`...), p.GetId()); err != nil {
			return to, err
		}
		if len(p.GetAttributeNames()) > 0 {
			to = append(to, `,"attributes":`...)
			if to, err = appendAttributes(to, p.GetAttributeNames(), p.GetAttributeValues()); err != nil {
				return to, err
			}
		}
		if len(p.GetProperties()) > 0 {
			if to, err = appendProperties(append(to, `,"properties":`...), p.GetProperties()); err != nil {
				return to, err
			}
		}
		to = append(to, '}')
	}
	return append(to, ']'), nil
}

func appendAttributes(to []byte, names []string, values []float64) (_ []byte, err error) {
	to = append(to, '{')
	for i, name := range names { // they are sorted
		if to, err = appendName(to, i, name); err != nil {
			return to, err
		}
		to = jsontext.AppendFloat(to, values[i], 64)
	}
	return append(to, '}'), nil
}

func appendProperties(to []byte, properties map[string][]byte) (_ []byte, err error) {
	to = append(to, '{')
	names := make([]string, 0, len(properties))
	for name := range properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		if to, err = appendName(to, i, name); err != nil {
			return to, err
		}
		to = base64.StdEncoding.AppendEncode(append(to, '"'), properties[name])
		to = append(to, '"')
	}
	return append(to, '}'), nil
}

// appendNames appends a member that is a list of names, unless there are none.
func appendNames(to []byte, member string, names []string) ([]byte, error) {
	if len(names) == 0 {
		return to, nil
	}
	return appendList(append(to, member...), names)
}

// appendList appends names behind the bracket of a list, and its end.
func appendList(to []byte, names []string) ([]byte, error) {
	var err error
	for i, name := range names {
		if i > 0 {
			to = append(to, ',')
		}
		if to, err = jsontext.AppendQuote(to, name); err != nil {
			return to, err
		}
	}
	return append(to, ']'), nil
}

func appendAssignment(to []byte, t *state.Ticket) ([]byte, error) {
	a := t.Assignment
	if a == nil {
		return append(to, `null`...), nil
	}
	to, err := jsontext.AppendQuote(append(to, `{"connection":`...), a.GetConnection())
	if err != nil {
		return to, err
	}
	if to, err = jsontext.AppendQuote(append(to, `,"error":`...), a.GetError()); err != nil {
		return to, err
	}
	if to, err = jsontext.AppendFormat(append(to, `,"properties":`...), ObjectOrNull(a.GetProperties())); err != nil {
		return to, err
	}
	to, err = jsontext.AppendFormat(append(to, `,"matchproperties":`...), ObjectOrNull(a.GetMatchProperties()))
	if err == nil {
		to, err = appendSeats(to, t.Seats)
	}
	return append(to, '}'), err
}

// appendSeats appends the member seats, if there are any.
func appendSeats(to []byte, seats map[string]string) (_ []byte, err error) {
	if len(seats) == 0 {
		return to, nil
	}
	to = append(to, `,"seats":{`...)
	for i, player := range slices.Sorted(maps.Keys(seats)) {
		if to, err = appendName(to, i, player); err != nil {
			return to, err
		}
		if to, err = jsontext.AppendQuote(to, seats[player]); err != nil {
			return to, err
		}
	}
	return append(to, '}'), nil
}

// appendName appends the name of the i-th member of an object.
func appendName(to []byte, i int, name string) ([]byte, error) {
	if i > 0 {
		to = append(to, ',')
	}
	to, err := jsontext.AppendQuote(to, name)
	return append(to, ':'), err
}
