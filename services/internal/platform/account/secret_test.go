package account_test

import (
	"os"
	"path/filepath"
	"testing"

	"matchmaker.dev/services/internal/platform/account"
)

// A password may come from an editor or a shell that writes byte order marks.
func TestSecretHasNoByteOrderMark(t *testing.T) {
	for _, text := range []string{"pass\n", "\ufeffpass\r\n", "\xff\xfep\x00a\x00s\x00s\x00\r\x00\n\x00"} {
		file := filepath.Join(t.TempDir(), "password")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := account.Secret(file); err != nil || got != "pass" {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}
