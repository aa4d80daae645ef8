// Tiny is the program of the images that TestNode makes besides the project's: the one that holds a pod's namespaces,
// and those that want more than a container may have.
package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// most is how much of a thing is asked for at most: MiB, or processes.
const most = 4096

func main() {
	what := "wait"
	if len(os.Args) > 1 {
		what = os.Args[1]
	}
	switch what {
	case "serve":
		server := &http.Server{Addr: ":8080", ReadHeaderTimeout: time.Minute}
		fmt.Fprintln(os.Stderr, server.ListenAndServe())
		os.Exit(1)
	case "eat":
		eat()
	case "fork":
		os.Exit(fork())
	default:
		ctx := make(chan os.Signal, 1)
		signal.Notify(ctx, syscall.SIGTERM, syscall.SIGINT)
		<-ctx
	}
}

// eat takes memory, and writes to all of it.
func eat() {
	var all [][]byte
	for range most {
		part := make([]byte, 1<<20)
		for i := 0; i < len(part); i += 4096 {
			part[i] = 1
		}
		all = append(all, part)
	}
	fmt.Println("nobody stopped me after", len(all), "MiB")
}

// fork starts processes that wait. It returns 3 when the kernel refuses one, and 0 when it refuses none.
func fork() int {
	for n := range most {
		cmd := exec.Command("/proc/self/exe", "wait")
		err := cmd.Start()
		if errors.Is(err, syscall.EAGAIN) {
			fmt.Println("refused after", n, "processes:", err)
			return 3
		}
		if err != nil {
			fmt.Println(err)
			return 1
		}
	}
	return 0
}
