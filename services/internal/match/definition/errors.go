package definition

import (
	"fmt"
	"strings"
)

// maxErrors is how many faults are listed: more than are corrected in one go, and an answer of a size that is in
// proportion to the question.
const maxErrors = 100

// FieldError is one entry of the contract's ValidationErrorResponse.
type FieldError struct {
	ResultCode string
	// Message begins with the path of the member, such as pools.main[0].min.
	Message string
}

// FieldErrors are what is wrong with a definition, in the order of the document. It is an error when it is not empty.
type FieldErrors struct {
	list []FieldError
	more int // faults beyond maxFaults
}

// Add notes a fault of the member at a path.
func (f *FieldErrors) Add(code string, at Path, format string, args ...any) {
	f.add(code, at.String()+": "+fmt.Sprintf(format, args...))
}

func (f *FieldErrors) add(code, message string) {
	if len(f.list) == maxErrors {
		f.more++
		return
	}
	f.list = append(f.list, FieldError{code, message})
}

func (f *FieldErrors) count() int { return len(f.list) + f.more }

// List is the faults, of which the last may say how many more there are.
func (f *FieldErrors) List() []FieldError {
	if f.more == 0 {
		return f.list
	}
	return append(f.list[:maxErrors:maxErrors], FieldError{TooManyErrors,
		fmt.Sprintf("%s: %d more faults are not listed", Path(""), f.more)})
}

// Exceeded is the limit that the first fault of that kind exceeds, by the name of its flag where it has one; "" when no
// fault is of that kind.
func (f *FieldErrors) Exceeded() string {
	for _, e := range f.list {
		switch e.ResultCode {
		case TooManyPools:
			return "max-pools"
		case TooManyFilters:
			return "max-filters"
		case TooManySegments:
			return "segments"
		case TooManyAttributeRules:
			return "attribute-rules"
		case TooManyPropertyRules:
			return "property-rules"
		case TooManyRatings:
			return "ratings"
		}
	}
	return ""
}

// Err is f, or nil when there are no faults.
func (f *FieldErrors) Err() error {
	if len(f.list) == 0 {
		return nil
	}
	return f
}

// Error is the first faults' messages on one line.
func (f *FieldErrors) Error() string {
	const most = 10
	var b strings.Builder
	for i, e := range f.list[:min(most, len(f.list))] {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(e.Message)
	}
	if more := f.count() - most; more > 0 {
		fmt.Fprintf(&b, "; and %d more faults", more)
	}
	return b.String()
}
