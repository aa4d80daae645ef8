package auth_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"go.yaml.in/yaml/v3"

	"matchmaker.dev/services/internal/edge/auth"
)

// Services start with the issuers that the documents and the chart's values show.
func TestIssuersOfExamplesAreTaken(t *testing.T) {
	const root = "../../../../"
	files, err := filepath.Glob(root + "deploy/values/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	examples := map[string][]byte{}
	for _, file := range files {
		var values struct{ Issuers yaml.Node }
		if err := yaml.Unmarshal(readFile(t, file), &values); err != nil {
			t.Fatal(err)
		}
		if values.Issuers.Kind != 0 {
			if examples[file], err = yaml.Marshal(&values.Issuers); err != nil {
				t.Fatal(err)
			}
		}
	}
	examples["deploy/issuers.yaml"] = readFile(t, root+"deploy/issuers.yaml")
	for _, block := range regexp.MustCompile("(?s)```yaml\n(- issuer: .*?)```").FindAllSubmatch(readFile(t, root+"docs/identity.md"), -1) {
		examples[string(block[1])] = block[1]
	}
	if len(examples) < 9 {
		t.Errorf("there are %d examples", len(examples))
	}
	for name, text := range examples {
		file := filepath.Join(t.TempDir(), "issuers.yaml")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		settings := auth.Settings{Issuers: file}
		list, err := settings.Read()
		if err == nil {
			_, err = auth.New(auth.Options{Issuers: list, Log: slog.New(slog.DiscardHandler)})
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
