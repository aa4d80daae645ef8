// Command guest is a match function that does what its request says, in Go as a studio builds it:
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared
package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"time"
	"unsafe"
)

func main() {}

// request and answer are kept here, so that the garbage collector does not free them.
var request, answer []byte

//go:wasmexport mm_abi
func abi() int32 { return 1 }

//go:wasmexport mm_alloc
func alloc(n int32) int32 {
	if int(n) > cap(request) {
		request = make([]byte, n)
	}
	request = request[:n]
	return int32(uintptr(unsafe.Pointer(unsafe.SliceData(request))))
}

//go:wasmexport mm_manifest
func manifest() int64 { return give([]byte(`{"attributes":["skill"],"properties":[]}`)) }

//go:wasmexport mm_run
func run(n int32) int64 {
	do, rest, _ := strings.Cut(string(request[:min(n, 64)]), " ")
	switch do {
	case "print":
		fmt.Println("on standard output:", rest)
		fmt.Fprint(os.Stderr, "on standard error, without newline")
	case "panic":
		panic(rest)
	case "exit":
		os.Exit(3)
	case "spin":
		for i := uint64(0); ; i++ {
			if i == 1<<63 {
				return 0
			}
		}
	case "eat":
		var kept [][]byte
		for {
			kept = append(kept, make([]byte, 1<<20))
			for i := range kept {
				kept[i][0]++
			}
		}
	case "recurse":
		return int64(recurse(0))
	case "deadlock":
		<-make(chan int)
	case "reach":
		return give([]byte(strings.Join(reach(), "\n")))
	case "replay":
		return give(fmt.Appendf(nil, "%d %d %v", time.Now().UnixNano(), rand.Uint64(), map[int]int{1: 1}))
	}
	return give(request[:n])
}

func recurse(n int) int {
	var frame [64]int
	frame[n%64] = n
	return recurse(n+1) + frame[(n+1)%64]
}

// reach tries to leave the sandbox, and returns what succeeded.
func reach() (out []string) {
	if b, err := os.ReadFile("/etc/passwd"); err == nil {
		out = append(out, "read a file: "+string(b))
	}
	if entries, err := os.ReadDir("/"); err == nil {
		out = append(out, fmt.Sprint("listed the root: ", entries))
	}
	if err := os.WriteFile("/tmp/escaped", nil, 0o600); err == nil {
		out = append(out, "wrote a file")
	}
	if env := os.Environ(); len(env) > 0 {
		out = append(out, fmt.Sprint("environment: ", env))
	}
	if len(os.Args) > 0 && os.Args[0] != "" {
		out = append(out, fmt.Sprint("arguments: ", os.Args))
	}
	if n, err := os.Stdin.Read(make([]byte, 1)); err == nil {
		out = append(out, fmt.Sprint("read standard input: ", n))
	}
	for fd := 3; fd < 16; fd++ {
		if _, err := os.NewFile(uintptr(fd), "").Write([]byte{1}); err == nil {
			out = append(out, fmt.Sprint("wrote to descriptor ", fd))
		}
	}
	if c, err := net.Dial("tcp", "127.0.0.1:22"); err == nil {
		out = append(out, fmt.Sprint("connected to ", c.RemoteAddr()))
	}
	return out
}

func give(b []byte) int64 {
	answer = b
	return int64(uintptr(unsafe.Pointer(unsafe.SliceData(b))))<<32 | int64(len(b))
}
