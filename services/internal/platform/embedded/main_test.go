package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"
)

// TestMain lets the test binary play a process that starts a Redis and is killed.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "parent" {
		r, err := StartRedis(context.Background(), RedisOptions{Dir: os.Args[2], AOF: true,
			Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println(r.Addr())
		select {}
	}
	os.Exit(m.Run())
}
