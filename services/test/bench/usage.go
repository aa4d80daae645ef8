package main

import (
	"fmt"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
)

// usage is processor time by process. Other load on the machine changes the processor time of a ticket much less than
// its waiting time. It also shows how large a machine must be.
type usage struct {
	// services is the process of all services, which includes the NATS server.
	services  time.Duration
	functions time.Duration
	redis     time.Duration
	// generator is this process.
	generator time.Duration
}

// server is everything but the generator.
func (u usage) server() time.Duration { return u.services + u.functions + u.redis }

func (u usage) since(before usage) usage {
	return usage{
		services: u.services - before.services, functions: u.functions - before.functions,
		redis: u.redis - before.redis, generator: u.generator - before.generator,
	}
}

// each is the usage for one of n, as cells of a table.
func (u usage) each(n int) table.Row {
	cells := make(table.Row, 4)
	for i, d := range []time.Duration{u.services, u.functions, u.redis, u.generator} {
		cells[i] = fmt.Sprintf("%d µs", d.Microseconds()/int64(max(1, n)))
	}
	return cells
}

// usageHeader has the names of the cells of each.
func usageHeader() table.Row {
	return table.Row{"processor: services, NATS", "functions", "Redis", "generator"}
}
