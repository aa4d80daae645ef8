module matchmaker.dev/pkg/matchfn

go 1.26.0
