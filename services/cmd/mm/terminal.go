package main

import (
	"fmt"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/lab"
)

// terminal is what the commands of lab get.
func (s *session) terminal() (*lab.Terminal, error) {
	return &lab.Terminal{
		Binary: s.binary, Now: s.now, ReadJSON: s.readJSON, ReadConfig: s.readConfig, AddFile: addFile,
		Structured: s.structured(), Note: s.note,
		Log:     s.printLog,
		Connect: func() (*client.Client, error) { return s.connect(asDeveloper(), reconnecting) },
		Show: func(value any, tables ...lab.Table) error {
			grids := make([]grid, len(tables))
			for i, t := range tables {
				for _, column := range t.Head {
					grids[i].head = append(grids[i].head, oneLine(fmt.Sprint(column)))
				}
				for _, row := range t.Rows {
					grids[i].add(row...)
				}
				if t.Sparse {
					grids[i] = grids[i].withoutEmptyColumns()
				}
			}
			return s.show(value, grids...)
		},
		Progress: func(message string) (setMessage func(string), stop func()) {
			b := s.startProgress(message, 0)
			return b.setMessage, b.stop
		},
	}, nil
}

// printLog prints a function's log.
func (s *session) printLog(lines []string) {
	for _, line := range lines {
		_, _ = fmt.Fprintln(s.err, "log:", printable(line, "\t"))
	}
}
