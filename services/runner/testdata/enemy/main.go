// Command enemy is a hostile match function. The settings of its config say what it does: {"do": "loop"}. Between two
// such runs it can behave.
//
// It implements the interface of modules itself, because the SDK does not allow invalid answers.
package main

import (
	"bytes"
	"fmt"
	"math"
	"net"
	"os"
	"strings"
	"unsafe"

	"matchmaker.dev/pkg/matchfn/block"
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

//go:wasmexport mm_run
func run(n int32) int64 {
	_, rest, _ := bytes.Cut(request[:n], []byte(`"do":"`))
	do, _, _ := bytes.Cut(rest, []byte(`"`))
	if result, ok := pointer(string(do)); ok {
		return result
	}
	if b, ok := garbage(string(do)); ok {
		return give(b)
	}
	return give(behave(string(do)))
}

// pointer is results of mm_run that are no valid pointers.
func pointer(do string) (int64, bool) {
	switch do {
	case "answer beyond its memory":
		return -0x1_0000<<32 | 1000, true
	case "answer of 4 GiB":
		return 0xffff_ffff, true
	case "answer at the end of memory":
		return 0x7fff_fff0<<32 | 0x20, true
	}
	return 0, false
}

// garbage is invalid answers.
func garbage(do string) ([]byte, bool) {
	var b block.AnswerBuilder
	switch do {
	case "nothing":
		return nil, true
	case "three bytes":
		return []byte{1, 2, 3}, true
	case "noise":
		noise := make([]byte, 4096)
		for i := range noise {
			noise[i] = byte(i * 7)
		}
		return noise, true
	case "a request":
		return request, true
	case "a torn answer":
		b.Propose(1)
		b.Team(0, 1)
		whole := b.Finish()
		return whole[:len(whole)-4], true
	case "a ticket that is none":
		b.Propose(1)
		b.Team(0, 4_000_000_000)
	case "a ticket twice":
		b.Propose(1)
		b.Team(0)
		b.Team(0)
	case "a score that is no number":
		b.Propose(math.NaN())
		b.Team(0, 1)
	case "properties that are no JSON":
		b.Propose(1)
		b.Team(0, 1)
		b.Set(0, block.FieldMatchProperties, 0, "", []byte(`{"a":`))
	default:
		return nil, false
	}
	return b.Finish(), true
}

// behave does what the settings say, and then answers properly if it still can.
func behave(do string) []byte {
	switch do {
	case "loop":
		for i := uint64(0); ; i++ {
			if i == 1<<63 {
				return nil
			}
		}
	case "recursion without a loop":
		fmt.Println(fibonacci(90))
	case "memory bomb":
		var kept [][]byte
		for {
			kept = append(kept, make([]byte, 1<<20))
			for i := range kept {
				kept[i][0]++
			}
		}
	case "stack bomb":
		fmt.Println(recurse(0))
	case "trap":
		var none *[4]int
		none[2]++
	case "panic":
		panic("as told")
	case "exit":
		os.Exit(3)
	case "deadlock":
		<-make(chan int)
	case "flood":
		line := strings.Repeat("flood ", 1000) + "\n"
		for range 1000 {
			fmt.Print(line)
		}
	case "stray prints":
		fmt.Print("\x00\xff stray \x1b[31m")
		fmt.Fprint(os.Stderr, "MMAN\x01\x00\x00\x00")
	case "reach out":
		fmt.Println("reached", reach())
	}
	var b block.AnswerBuilder
	b.Propose(1)
	b.Team(0, 1)
	return b.Finish()
}

func fibonacci(n int) int {
	if n < 2 {
		return n
	}
	return fibonacci(n-1) + fibonacci(n-2)
}

func recurse(n int) int {
	var frame [64]int
	frame[n%64] = n
	return recurse(n+1) + frame[(n+1)%64]
}

// reach counts the files, folders, variables and connections that it can reach.
func reach() (n int) {
	for _, name := range []string{"/etc/passwd", "/proc/self/environ", "module.wasm", "../module.wasm"} {
		if _, err := os.ReadFile(name); err == nil {
			n++
		}
	}
	for _, name := range []string{"/", ".", "/proc"} {
		if _, err := os.ReadDir(name); err == nil {
			n++
		}
	}
	if os.WriteFile("/tmp/escaped", nil, 0o600) == nil {
		n++
	}
	if _, err := net.Dial("tcp", "127.0.0.1:22"); err == nil {
		n++
	}
	for fd := 3; fd < 16; fd++ {
		if _, err := os.NewFile(uintptr(fd), "").Write([]byte{1}); err == nil {
			n++
		}
	}
	return n + len(os.Environ())
}

func give(b []byte) int64 {
	answer = b
	return int64(uintptr(unsafe.Pointer(unsafe.SliceData(b))))<<32 | int64(len(b))
}
