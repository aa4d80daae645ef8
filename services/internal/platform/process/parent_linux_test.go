package process_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestAChildEndsWithItsParent(t *testing.T) {
	for how, want := range map[string]string{"killed": "", "orderly": "ended\n"} {
		t.Run(how, func(t *testing.T) { endsWithItsParent(t, how, want) })
	}
}

// endsWithItsParent kills the parent when the child is ready. want is what the child writes at its end.
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
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // "signal: killed"
	wrote, err := io.ReadAll(r)
	if err != nil {
		t.Errorf("the child still runs: %v", err)
	}
	if string(wrote) != want {
		t.Errorf("the child wrote %q, want %q", wrote, want)
	}
}
