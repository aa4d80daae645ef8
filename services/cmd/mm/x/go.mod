module example.com/function-x

go 1.26.0

require matchmaker.dev/pkg/matchfn v0.0.0

// A copy, so that the project builds anywhere; README.md says how to renew it.
replace matchmaker.dev/pkg/matchfn => ./sdk
