package main

import (
	"fmt"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
)

// usage is processor time, by the processes that used it. What a ticket costs is disturbed far less than how long it takes by what
// else the machine does, and says how large a machine must be.
type usage struct {
	// services are all of the service in one process, with the NATS server in it.
	services  time.Duration
	functions time.Duration
	redis     time.Duration
	// generator is the load's.
	generator time.Duration
}

// server is all but the generator.
func (u usage) server() time.Duration { return u.services + u.functions + u.redis }

func (u usage) since(before usage) usage {
	return usage{
		services: u.services - before.services, functions: u.functions - before.functions,
		redis: u.redis - before.redis, generator: u.generator - before.generator,
	}
}

// each is what one of n cost, as cells of a table.
func (u usage) each(n int) table.Row {
	cells := make(table.Row, 4)
	for i, d := range []time.Duration{u.services, u.functions, u.redis, u.generator} {
		cells[i] = fmt.Sprintf("%d µs", d.Microseconds()/int64(max(1, n)))
	}
	return cells
}

// usageHeader names the cells of each.
func usageHeader() table.Row {
	return table.Row{"processor: services, NATS", "functions", "Redis", "generator"}
}
