//go:build !wasip1

package block

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"unicode"
	"unicode/utf8"

	"matchmaker.dev/pkg/matchfn/internal/message"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

// partChecker checks the parts of one proposal, in order.
type partChecker struct {
	a         *Answer
	proposal  int
	backfills int
	seen      []uint32
	mark      uint32
	// budget is the length of data that the remaining parts may have. Parts may share bytes, but checking them must take
	// only linear time.
	budget   *uint64
	last     part
	backfill bool
	measures int
}

func (c *partChecker) check(q part) error {
	if q.name > q.size || uint64(q.start)+uint64(q.size) > uint64(len(c.a.data)) {
		return message.Errorf("%d bytes at %d, %d of them a name, in %d bytes of data", q.size, q.start, q.name,
			len(c.a.data))
	}
	if uint64(q.size) > *c.budget {
		return errors.New("the parts together are longer than the data")
	}
	*c.budget -= uint64(q.size)
	name, value := q.text(c.a.data)
	if !c.ascends(q, name) {
		return errors.New("parts are not in ascending order of field, subject and name, each once")
	}
	c.last = q
	if err := c.checkSubject(q); err != nil {
		return err
	}
	return c.checkValue(q, name, value)
}

// ascends reports whether q comes after the latest part.
func (c *partChecker) ascends(q part, name []byte) bool {
	if c.last.field == 0 {
		return true
	}
	if o := cmp.Or(cmp.Compare(c.last.field, q.field), cmp.Compare(c.last.subject, q.subject)); o != 0 {
		return o < 0
	}
	before, _ := c.last.text(c.a.data)
	return bytes.Compare(before, name) < 0
}

func (c *partChecker) checkSubject(q part) error {
	what, n := "subject", 1
	switch q.field {
	case FieldTeamName:
		what, n = "team", c.a.Teams(c.proposal)
	case FieldBackfillUpdate:
		what, n = "backfill ticket", c.backfills
	case FieldTicketProperties:
		if uint64(q.subject) >= uint64(len(c.seen)) || c.seen[q.subject] != c.mark {
			return message.Errorf("ticket %d is not in it", q.subject)
		}
		return nil
	}
	if uint64(q.subject) >= uint64(n) {
		return message.Errorf("%s %d of %d", what, q.subject, n)
	}
	return nil
}

func (c *partChecker) checkValue(q part, name, value []byte) error {
	named := q.field >= FieldBackfillAttribute && q.field <= FieldBackfillRemove
	if !named && len(name) > 0 && q.field != FieldMeasure {
		return errors.New("takes no name")
	}
	if named {
		if !c.backfill {
			return errors.New("without a backfill ticket to create or update")
		}
		if err := checkText(name, MaxText); err != nil {
			return message.Errorf("name %s", err)
		}
	}
	switch q.field {
	case FieldTeamName, FieldConnection, FieldRegion, FieldFleet, FieldProfile:
		if bytes.ContainsFunc(value, unicode.IsControl) {
			return errors.New("has control characters")
		}
		return checkText(value, MaxText)
	case FieldError:
		return checkText(value, MaxError)
	case FieldAssignmentProperties, FieldMatchProperties, FieldTicketProperties:
		if len(value) > MaxValue {
			return message.Errorf("has %d bytes of at most %d", len(value), MaxValue)
		}
		return checkObject(value)
	case FieldBackfillCreate, FieldBackfillUpdate:
		if c.backfill {
			return errors.New("creates and updates a backfill ticket")
		}
		c.backfill = true
		return checkEmpty(value)
	case FieldBackfillAttribute:
		return checkAttribute(string(name), value)
	case FieldBackfillProperty:
		if len(value) > MaxValue {
			return message.Errorf("has %d bytes of at most %d", len(value), MaxValue)
		}
		return nil
	case FieldBackfillRemove:
		return checkEmpty(value)
	case FieldMeasure:
		if c.measures++; c.measures > MaxMeasures {
			return message.Errorf("more than %d of them", MaxMeasures)
		}
		return checkMeasure(name, value)
	}
	return errors.New("is not known")
}

// checkObject checks that a value is one JSON object in UTF-8 that is not nested too deep.
func checkObject(value []byte) error {
	switch {
	case !utf8.Valid(value):
		return errors.New("is not UTF-8")
	case !json.Valid(value):
		return message.Errorf("is no JSON: %s", json.Unmarshal(value, new(any)))
	case document.First(value)[0] != '{':
		return errors.New("is not an object")
	}
	depth, quoted := 0, false
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == '\\': // in a string
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > document.MaxDepth {
				return message.Errorf("is nested more than %d deep", document.MaxDepth)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}

func checkText(text []byte, limit int) error {
	if len(text) == 0 || len(text) > limit || !utf8.Valid(text) {
		return message.Errorf("is not 1 to %d bytes of UTF-8", limit)
	}
	return nil
}

func checkEmpty(value []byte) error {
	if len(value) > 0 {
		return errors.New("takes no value")
	}
	return nil
}

func checkAttribute(name string, value []byte) error {
	if name == "created" {
		return errors.New(`the attribute "created" cannot be set`)
	}
	if len(value) != 8 {
		return message.Errorf("has %d bytes, not 8", len(value))
	}
	if math.IsInf(math.Float64frombits(le.Uint64(value)), 0) {
		return errors.New("is infinite")
	}
	return nil
}

func checkMeasure(name, value []byte) error {
	if err := checkText(name, MaxMeasureName); err != nil {
		return message.Errorf("name %s", err)
	}
	if len(value) != 8 {
		return message.Errorf("has %d bytes, not 8", len(value))
	}
	if v := math.Float64frombits(le.Uint64(value)); v-v != 0 { // NaN, or infinite
		return message.Errorf("%q is not finite", string(name))
	}
	return nil
}
