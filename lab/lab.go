// Package lab has the commands of mm that run a match function, record tickets, and play them again in virtual time.
// The server imports nothing of this module.
package lab

import (
	"context"
	"time"

	"matchmaker.dev/pkg/client"
)

// Terminal is what mm gives to these commands.
type Terminal struct {
	// Binary is what sandboxes execute; empty for mm itself.
	Binary string
	Now    func() time.Time
	// Connect returns a client with a developer's token, which outlasts a restart of the service.
	Connect  func() (*client.Client, error)
	ReadJSON func(file string) ([]byte, error)
	// ReadConfig reads a config, whose settings may be rules of another matchmaker.
	ReadConfig func(file string, how Translation) ([]byte, error)
	// AddFile adds the file's name to the field errors in it.
	AddFile func(file string, err error) error

	// Structured is set when results are printed for programs.
	Structured bool
	// Show prints a result: value for programs, or the tables that have rows.
	Show func(value any, tables ...Table) error
	// Note writes a line to standard error, and Log lines of a function.
	Note func(format string, args ...any)
	Log  func(lines []string)
	// Progress draws a bar until it is stopped.
	Progress func(message string) (setMessage func(string), stop func())
}

// Translation has the flags of commands that read a config.
type Translation struct {
	Partly bool `help:"Translate the rules of another matchmaker although some are refused."`
	AsIs   bool `help:"Do not translate settings that are rules of another matchmaker."`
}

// Untimed is a context that --timeout does not end, for commands that run until Ctrl-C.
type Untimed interface{ context.Context }

// Table is a table. Without a head it has two columns, names and values.
type Table struct {
	Head []any
	Rows [][]any
	// Sparse leaves out columns whose cells are all empty.
	Sparse bool
}

func (t *Table) add(cells ...any) { t.Rows = append(t.Rows, cells) }
