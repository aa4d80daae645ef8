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

// The result codes of faults. BadFilterRange is the contract's own; the others are named after it.
// services/config/README.md explains them to studios.
const (
	WrongType       = "wrongType"       // a value of another JSON type, null where a value must be
	UnknownMember   = "unknownMember"   // a member that the contract does not have
	DuplicateMember = "duplicateMember" // a member given twice, in any letter case where the contract has named it
	NumberRange     = "numberRange"     // a number that no 64-bit floating-point number, or integer, comes near

	MissingMatchmaking = "missingMatchmaking"
	BadName            = "badName"    // of a config: too long, or with control characters
	BadHosting         = "badHosting" // a member that is too long, or with control characters

	MissingTargetFunction = "missingTargetFunction"
	BadTargetFunction     = "badTargetFunction" // no name of a function, or a bad version
	BadFunctionConfig     = "badFunctionConfig" // settings that nest too deep
	BadSettings           = "badSettings"       // settings that the function refuses

	BadPoolName        = "badPoolName"
	BadFilterAttribute = "badFilterAttribute" // missing, empty or too long
	BadFilterRange     = "badFilterRange"     // max below min
	BadSegmentation    = "badSegmentation"    // one that cannot be followed
	TooManyPools       = "tooManyPools"
	TooManyFilters     = "tooManyFilters"
	BadAcceptance      = "badAcceptance"   // no time, or one that is too short or too long
	BadReport          = "badReport"       // a bad name of an attribute, or too many of them
	BadQueue           = "badQueue"        // too long, or with spaces or control characters
	BadResult          = "badResult"       // no time, or one that is too short or too long
	TooManySegments    = "tooManySegments" // all segmentations together

	BadPause              = "badPause"              // of the project's settings: a bad pause after missed matches
	BadTicketRule         = "badTicketRule"         // of the project's settings: a bad limit of tickets
	BadAttributeRule      = "badAttributeRule"      // of the project's settings: a bad name, setter or claim
	TooManyAttributeRules = "tooManyAttributeRules" // of the project's settings
	BadPropertyRule       = "badPropertyRule"       // of the project's settings: a bad name, setter or claim
	TooManyPropertyRules  = "tooManyPropertyRules"  // of the project's settings
	BadWebhook            = "badWebhook"            // of the project's settings: a bad name, URL, event or secret

	BadRating      = "badRating"      // of the project's settings: a bad name, model, parameter or queue
	TooManyRatings = "tooManyRatings" // of the project's settings
	BadStanding    = "badStanding"    // of the project's settings: a bad number, or a name with another setter

	TooManyErrors = "tooManyFaults" // the last entry of a list that was cut
)
