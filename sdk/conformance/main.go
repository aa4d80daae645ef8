// Command conformance plays the service on its bad days to SDKs, and says what each of them does about it. PROTOCOL.md
// says how an SDK is driven.
//
//	go run ./sdk/conformance --driver 'Go=go run ./sdk/conformance/driver'
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"matchmaker.dev/services/sdk/conformance/suite"
)

// sdk is a column of the table.
type sdk struct {
	language string
	command  []string
	results  []error
}

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	var sdks []*sdk
	flags := flag.NewFlagSet("conformance", flag.ContinueOnError)
	flags.Func("driver", "LANGUAGE=COMMAND: an SDK and how its driver is started; may be given more than once",
		func(text string) error {
			language, command, ok := strings.Cut(text, "=")
			if words := strings.Fields(command); ok && len(words) > 0 {
				sdks = append(sdks, &sdk{language: language, command: words})
				return nil
			}
			return errors.New("LANGUAGE=COMMAND is expected")
		})
	row := flags.String("row", "", "play the rows with this text in their name")
	into := flags.String("into", "", "write the table into this document, when no row fails")
	parallel := flags.Int("parallel", 12, "how many rows are played at once")
	wrong := flags.Bool("wrong", false, "make the drivers wrong in what each row is about, and expect all rows to fail")
	patience := flags.Duration("patience", 30*time.Second, "how long anything is waited for")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if len(sdks) == 0 {
		return errors.New("--driver is missing: LANGUAGE=COMMAND")
	}
	var rows []suite.Row
	for _, r := range suite.Rows() {
		if strings.Contains(r.Name, *row) {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return fmt.Errorf("--row: no row has %q in its name", *row)
	}
	for _, s := range sdks {
		o := suite.Options{Command: s.command, Patience: *patience, Parallel: *parallel}
		if *wrong {
			passed, err := suite.RunWrong(ctx, o, rows)
			if err != nil || len(passed) > 0 {
				return errors.Join(err, fmt.Errorf("%s: a wrong driver passes %q", s.language, passed))
			}
			fmt.Printf("%s: wrong drivers fail in %d rows\n", s.language, len(rows))
			continue
		}
		var err error
		if s.results, err = suite.Run(ctx, o, rows); err != nil {
			return err
		}
	}
	if *wrong {
		return nil
	}
	text, failed := table(rows, sdks)
	fmt.Print(text)
	if failed > 0 {
		fmt.Println()
		for _, s := range sdks {
			for i, err := range s.results {
				if word(err) == no {
					fmt.Printf("%s: %s: %v\n", s.language, rows[i].Name, err)
				}
			}
		}
		return fmt.Errorf("%d results are not as expected", failed)
	}
	if *into != "" {
		return replace(*into, text)
	}
	return nil
}

const (
	yes  = "yes"
	no   = "**no**"
	none = "–"
)

// word is a result in the table.
func word(err error) string {
	switch {
	case err == nil:
		return yes
	case errors.Is(err, suite.ErrLacks):
		return none
	}
	return no
}

// table is the table in Markdown, and how many results are failures.
func table(rows []suite.Row, sdks []*sdk) (text string, failed int) {
	var b strings.Builder
	line := func(first string, cell func(*sdk) string) {
		b.WriteString("| " + first + " |")
		for _, s := range sdks {
			b.WriteString(" " + cell(s) + " |")
		}
		b.WriteString("\n")
	}
	line("behaviour", func(s *sdk) string { return s.language })
	line("---", func(*sdk) string { return "---" })
	for i, r := range rows {
		line(r.Name, func(s *sdk) string {
			result := word(s.results[i])
			if result == no {
				failed++
			}
			return result
		})
	}
	return b.String(), failed
}

const (
	begin = "<!-- table of sdk/conformance -->\n"
	end   = "<!-- end of the table -->\n"
)

// replace puts a table into a document, between the two comments.
func replace(document, text string) error {
	old, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(old), begin)
	_, behind, there := strings.Cut(rest, end)
	if !ok || !there {
		return fmt.Errorf("%s has no %q and %q behind it", document, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return os.WriteFile(document, []byte(before+begin+text+end+behind), 0o644) //nolint:gosec // a document for all
}
