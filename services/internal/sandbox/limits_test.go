package sandbox_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/internal/sandbox"
)

func TestDocumentsNameTheLimits(t *testing.T) {
	t.Parallel()
	const kib, mib = 1 << 10, 1 << 20
	l := sandbox.DefaultLimits()
	for _, c := range []struct{ page, says string }{
		{"pkg/matchfn/block/FORMAT.md", fmt.Sprintf("at most %d MiB, in at most 64 sections", l.Answer/mib)},
		{"functions/README.md", fmt.Sprintf("%d seconds, %d MiB of memory, and print %d KiB. A project may have 20 functions "+
			"of %d MiB each", l.Run/time.Second, l.Memory/mib, l.Log/kib, l.Module/mib)},
		{"docs/operations.md", fmt.Sprintf("| output of a run; log of a function | %d KiB; ", l.Log/kib)},
		{"docs/operations.md", fmt.Sprintf("| compiling a module: processor time; memory | %d s; %d GiB |",
			l.Compile/time.Second, l.CompileMemory/mib/1024)},
	} {
		text, err := os.ReadFile("../../../" + c.page)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), c.says) {
			t.Errorf("%s does not say %q", c.page, c.says)
		}
	}
}
