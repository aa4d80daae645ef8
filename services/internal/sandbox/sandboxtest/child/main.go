// Command child is nothing but a sandbox's child: what the server's binary is when it is executed again. Tests run it
// in its place.
package main

import (
	"os"

	"matchmaker.dev/services/internal/sandbox"
)

func main() { os.Exit(sandbox.Main()) }
