module matchmaker.dev/functions

go 1.26.0

require matchmaker.dev/pkg/matchfn v0.0.0

replace matchmaker.dev/pkg/matchfn => ../pkg/matchfn
