package definition

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
