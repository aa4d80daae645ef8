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

// as says that this program is the driver.
const as = "CONFORMANCE_DRIVER"

func TestMain(m *testing.M) {
	if os.Getenv(as) == "" {
		os.Exit(m.Run())
	}
	if err := newDriver(os.Stdout).run(context.Background(), os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
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
	results, err := suite.Run(t.Context(), options(30*time.Second), rows)
	if err != nil {
		t.Fatal(err)
	}
	for i, err := range results {
		if err != nil {
			t.Errorf("%s: %v", rows[i].Name, err)
		}
	}
}

// Each row fails for a driver that is wrong in what it is about.
func TestEachRowCanFail(t *testing.T) {
	t.Parallel()
	passed, err := suite.RunWrong(t.Context(), options(4*time.Second), rows())
	if err != nil || len(passed) > 0 {
		t.Errorf("wrong drivers pass %q: %v", passed, err)
	}
}

func options(patience time.Duration) suite.Options {
	return suite.Options{Command: []string{os.Args[0]}, Patience: patience, Parallel: 16,
		Env: func(suite.Row) []string { return []string{as + "=true"} }}
}
