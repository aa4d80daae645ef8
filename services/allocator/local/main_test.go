package local

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"testing"

	"matchmaker.dev/services/allocator/devserver"
	"matchmaker.dev/services/allocator/gameserver"
	"matchmaker.dev/services/allocator/provider"
)

// TestMain lets the test binary play the processes that a fleet consists of, and an allocator that is killed.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 {
		play(os.Args[1])
	}
	os.Exit(m.Run())
}

// sleeper is the command of a studio whose server does nothing.
const sleeper = "exec sleep 1000"

func play(part string) {
	log := slog.New(slog.DiscardHandler)
	switch part {
	case "gameserver", "studio":
		in := io.Reader(os.Stdin)
		if heard, ok := os.LookupEnv("HEARD"); ok {
			file, err := os.OpenFile(heard, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			in = io.TeeReader(in, file)
		}
		var err error
		if part == "studio" {
			err = devserver.Main(context.Background(), in, os.Stdout, devserver.Options{Command: sleeper, Log: log})
		} else {
			err = gameserver.Main(context.Background(), in, os.Stdout, gameserver.Options{Log: log})
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "crash":
		fmt.Fprintln(os.Stderr, "no luck today")
		os.Exit(3)
	case "babble":
		fmt.Println("hello, I am a game server")
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "allocator":
		f, err := New(Options{Binary: os.Args[0], Args: []string{"gameserver"}, Log: log})
		if err == nil {
			var r provider.Result
			r, err = f.Allocate(context.Background(), request("m"))
			fmt.Println(r.Connection)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		select {} // until it is killed
	default:
		return
	}
	os.Exit(0)
}
