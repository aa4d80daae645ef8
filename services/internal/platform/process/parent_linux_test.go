package process_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestAChildEndsWithItsParent(t *testing.T) {
	for how, want := range map[string]string{"killed": "", "orderly": "ready\nended\n"} {
		t.Run(how, func(t *testing.T) { endsWithItsParent(t, how, want) })
	}
}

// endsWithItsParent kills the parent when the child is ready. want is what the child writes.
func endsWithItsParent(t *testing.T, how, want string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	parent := exec.Command(os.Args[0], "parent", how)
	parent.ExtraFiles = []*os.File{w} // parent and child hold it as long as they live
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "started\n" {
		t.Fatalf("the parent wrote %q, %v", line, err)
	}
	if err := r.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	wrote := make([]byte, len("ready\n"))
	if want != "" {
		if _, err := io.ReadFull(r, wrote); err != nil {
			t.Fatal(err)
		}
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // "signal: killed"
	rest, err := io.ReadAll(r)
	if err != nil {
		t.Errorf("the child still runs: %v", err)
	}
	if got := strings.Trim(string(wrote)+string(rest), "\x00"); got != want {
		t.Errorf("the child wrote %q, want %q", got, want)
	}
}
