package wasm

import (
	"fmt"
	"math"
	"strconv"
)

// Limits are the most that a module may have.
type Limits struct {
	Types, Imports, Functions, Tables, Globals, Exports, Elements, Data int
	Arity, Memory, Table                                                int
	Body, Locals, Nesting, Loops, Targets                               int
	// Work is an estimate of what the compiler takes for a function, and TotalWork for all, in nanoseconds. It is too high
	// for most functions, by much for some, and about right for those that are made to be slow.
	Work, TotalWork int
}

// DefaultLimits are about three times what the largest real modules have that were found: the Go compiler's own modules
// go, vet, compile (48 MB), asm, gofmt and esbuild (12 MB), those of this repository, SQLite, QuickJS and the parsers
// of tree-sitter, whose functions are tables. The number behind each is the most of any of them, and of those that are
// no larger than 12 MB. Where browsers have a limit (WebAssembly JS API, "Implementation-defined limits"), none is
// higher.
func DefaultLimits() Limits {
	return Limits{
		Types:     10_000,  // 116 (QuickJS)
		Imports:   1_000,   // 67 (SQLite)
		Functions: 50_000,  // 19,930 (compile), 4,526 (esbuild)
		Tables:    100,     // 1
		Globals:   10_000,  // 8 (Go); dynamically linked C has thousands
		Exports:   10_000,  // 213 (a parser)
		Elements:  10_000,  // 1
		Data:      100_000, // 100,000: Go's linker makes no more; the browsers' limit
		Arity:     1_000,   // 15; the browsers' limit
		Memory:    4_096,
		Table:     1_000_000, // 24,026 (compile), 8,622 (esbuild)
		Body:      2 << 20,   // 666,326 (compile), 591,958 (the parser of C++)
		Locals:    10_000,    // 57 (SQLite)
		Nesting:   10_000,    // 7,740 (compile), 3,213 (esbuild)
		Loops:     100,       // 8 (SQLite)
		Targets:   65_520,    // 12,049 (compile), 5,633 (asm); the browsers' limit
		Work:      4e9,       // 0.09 s (vet); 1.1 s (the parser of C++) before instructions had prices of their own
		TotalWork: 20e9,      // 9.9 s (vet, 14 MB), 3.6 s (gofmt, 4.9 MB), 1.8 s (duel)
	}
}

func atMost(n, most int, what string) error {
	if n <= most {
		return nil
	}
	return &TooLarge{fmt.Sprintf(what, thousands(n)) + ", at most " + thousands(most) + " are allowed"}
}

// text begins a sentence about the function.
func (f *function) text(rest string) string { return fmt.Sprintf("function %d %s", f.index, rest) }

func (f *function) tooMuchWork() error {
	return &TooLarge{fmt.Sprintf("function %d is too complex: %s blocks deep, %s values that may be in use and %s bytes "+
		"together would take the compiler too long; divide it into smaller functions", f.index, thousands(f.depth),
		thousands(f.live+f.height), thousands(len(f.bytes)))}
}

func (m *module) tooMuchWork() error {
	return &TooLarge{fmt.Sprintf("the module's %s functions of %s bytes together are too complex: the compiler would "+
		"take too long",
		thousands(m.shape.Functions), thousands(m.shape.Code))}
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Unlimited is to measure modules, whatever they have.
func Unlimited() Limits {
	const any = math.MaxInt
	return Limits{any, any, any, any, any, any, any, any, any, any, any, any, any, any, any, any, any, any}
}
