// Command driver lets the conformance programme drive pkg/client: PROTOCOL.md.
package main

import (
	"context"
	"fmt"
	"os"
)

func main() {
	if err := newDriver(os.Stdout).run(context.Background(), os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		os.Exit(1)
	}
}
