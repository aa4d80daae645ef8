package bus

import (
	"strings"
	"testing"
)

func TestAccountWithoutSubjectsIsDeniedAll(t *testing.T) {
	var b strings.Builder
	writeSubjects(&b, "publish", nil)
	if got, want := strings.TrimSpace(b.String()), `publish: { deny: ">" }`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
