module matchmaker.dev/pkg/client

go 1.26.0
