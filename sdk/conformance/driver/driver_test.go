package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"matchmaker.dev/services/sdk/conformance/suite"
)

var only = flag.String("row", "", "the row to play, all if it is empty")

// as names the driver that this program is for a row, one of bad or "good".
const as = "CONFORMANCE_DRIVER"

func TestMain(m *testing.M) {
	name := os.Getenv(as)
	if name == "" {
		os.Exit(m.Run())
	}
	d := newDriver(os.Stdout)
	if change := bad[name]; change != nil {
		change(d)
	}
	if err := d.run(context.Background(), os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// run plays rows to the driver of a name each.
func run(t *testing.T, name func(suite.Row) string, patience time.Duration, rows []suite.Row) []error {
	t.Helper()
	results, err := suite.Run(t.Context(), suite.Options{Command: []string{os.Args[0]}, Patience: patience, Parallel: 16,
		Env: func(r suite.Row) []string { return []string{as + "=" + name(r)} }}, rows)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

func rows() []suite.Row {
	var some []suite.Row
	for _, r := range suite.Rows() {
		if *only == "" || r.Name == *only {
			some = append(some, r)
		}
	}
	return some
}

// The client does all that the programme expects.
func TestClientConforms(t *testing.T) {
	t.Parallel()
	rows := rows()
	for i, err := range run(t, func(suite.Row) string { return "good" }, 30*time.Second, rows) {
		if err != nil {
			t.Errorf("%s: %v", rows[i].Name, err)
		}
	}
}
