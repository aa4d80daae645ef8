// Package console_test tries the console in a browser, on a system with players. `make check PART=console` runs it.
package console_test

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"testing"
)

var (
	bin   = flag.String("bin", "", "the folder of what make build builds")
	serve = flag.Bool("serve", false, "show the console until Ctrl-C, for somebody to look at")
)

func TestServe(t *testing.T) {
	if !*serve {
		t.Skip("for people: go test ./test/console -run Serve -timeout 0 -args -bin $PWD/bin -serve")
	}
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt)
	defer stop()
	w := newWorld(t, *bin)
	fmt.Println(w.URL + "/console")
	must(t, w.play(ctx))
}
