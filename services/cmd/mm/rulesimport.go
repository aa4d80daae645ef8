package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"matchmaker.dev/pkg/matchfn/dialects"
	"matchmaker.dev/pkg/matchfn/dialects/lenient"
	"matchmaker.dev/pkg/matchfn/dialects/translation"
	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

type rulesImport struct {
	Language string `arg:"" enum:"flexmatch,unity,playfab,accelbyte" help:"The file's language: flexmatch, unity, playfab or accelbyte."`
	rulesFile
	Partly bool `help:"Print the rules although some of the file's are refused."`
}

// imported is what the command prints as JSON.
type imported struct {
	Rules    json.RawMessage    `json:"rules,omitempty"`
	Verdicts []translation.Line `json:"verdicts"`
}

// Run prints the translation.
func (c rulesImport) Run(s *session) error {
	text, err := c.read(s, c.Language)
	if err != nil {
		return err
	}
	t, err := dialects.Import(c.Language, text, c.Pool)
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	refused := countRefused(t.Lines)
	result := imported{Verdicts: t.Lines}
	if refused == 0 || c.Partly {
		result.Rules = rules.Write(t.Rules)
	}
	if s.structured() {
		err = s.print(result)
	} else {
		for _, l := range t.Lines {
			s.note("%s", l)
		}
		_, err = s.out.Write(result.Rules)
	}
	if err == nil && refused > 0 && !c.Partly {
		err = errors.New("rules of the file are refused: --partly prints the others")
	}
	return err
}

// countRefused is how many rules of a file are refused.
func countRefused(lines []translation.Line) (n int) {
	for _, l := range lines {
		if l.Verdict == translation.Refused {
			n++
		}
	}
	return n
}

// rulesFile is a file with rules.
type rulesFile struct {
	File string `arg:"" completion-predictor:"file" help:"The file, - for standard input."`
	Pool string `help:"The pool of Unity's queue; without it, the default pool."`
}

// read reads no more than a file may have, which is twice as much in UTF-16.
func (c rulesFile) read(s *session, language string) ([]byte, error) {
	if c.Pool != "" && language != dialects.Unity {
		return nil, usageError("--pool: only files of unity have pools")
	}
	in := s.in
	if c.File != "-" {
		file, err := os.Open(c.File)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	const most = 2*lenient.MaxBytes + 2 // with the byte order mark
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && len(text) > most {
		err = fmt.Errorf("the file has more than %d bytes", most)
	}
	if err == nil {
		text, err = document.Text(text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.File, err)
	}
	return text, nil
}
