package sandbox_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/internal/sandbox"
)

// Every module here is hostile. It fails its own run with the reason, and the next instance of the same module answers.
// Promise 9.
func TestHostileRuns(t *testing.T) {
	t.Parallel()
	const short = 300 * time.Millisecond
	// Grows by a page until it is refused, then runs the code.
	hungry := func(code []byte) []byte {
		return cat([]byte{0x03, 0x40}, i32c(1), grow, i32c(-1), []byte{0x47, 0x0d, 0, 0x0b}, code)
	}
	text := func(m module, s string) module { m.text = s; return m }

	tests := map[string]struct {
		module module
		cause  sandbox.Cause
		detail string // part of it
		stack  string // part of it
		log    string // part of it
	}{
		"endless loop":                   {module: reactor(loop(nil)), cause: sandbox.Deadline, detail: "300ms"},
		"endless recursion without loop": {module: recursion(false), cause: sandbox.Deadline, detail: "300ms"},
		"endless loop in mm_alloc": {
			module: reactor(echo()).with(function{export: "mm_alloc", params: []byte{i32}, results: []byte{i32},
				code: loop(nil)}),
			cause: sandbox.Deadline,
		},
		"unreachable": {module: reactor(unreachable), cause: sandbox.Trap, detail: "unreachable", stack: "$1(i32) i64"},
		"division by zero": {
			module: reactor(cat(i64c(1), i64c(0), []byte{0x7f})), cause: sandbox.Trap, detail: "divide by zero",
		},
		"read out of bounds": {
			module: reactor(cat(i32c(-8), []byte{0x29, 3, 0})), cause: sandbox.Trap, detail: "out of bounds",
		},
		"all memory, then trap": {module: reactor(hungry(unreachable)), cause: sandbox.Memory, detail: "8 MiB"},
		"all memory, then exit": {
			module: reactor(hungry(cat(i32c(1), call(0), unreachable)), imported{"wasi_snapshot_preview1", "proc_exit",
				[]byte{i32}, nil}),
			cause: sandbox.Memory, detail: "exited with code 1",
		},
		"mm_alloc says there is no room": {
			module: reactor(echo()).with(function{export: "mm_alloc", params: []byte{i32}, results: []byte{i32},
				code: cat(i32c(9999), grow, drop, i32c(0))}),
			cause: sandbox.Memory, detail: "mm_alloc(6)",
		},
		"mm_alloc returns null": {
			module: reactor(echo()).with(function{export: "mm_alloc", params: []byte{i32}, results: []byte{i32},
				code: i32c(0)}),
			cause: sandbox.Garbage, detail: "mm_alloc(6) returned 0x0",
		},
		"mm_alloc points out of memory": {
			module: reactor(echo()).with(function{export: "mm_alloc", params: []byte{i32}, results: []byte{i32},
				code: i32c(65_533)}),
			cause: sandbox.Garbage, detail: "mm_alloc(6) returned 0xfffd",
		},
		"mm_alloc returns -1": {
			module: reactor(echo()).with(function{export: "mm_alloc", params: []byte{i32}, results: []byte{i32},
				code: i32c(-1)}),
			cause: sandbox.Garbage, detail: "0xffffffff",
		},
		"answer out of memory": {module: reactor(answer(65_530, 7)), cause: sandbox.Garbage, detail: "7 bytes at 0xfffa"},
		"answer wraps around":  {module: reactor(answer(0xffff_fff0, 0x20)), cause: sandbox.Garbage, detail: "32 bytes"},
		"answer of 4 GiB": {module: reactor(answer(0, 0xffff_ffff)), cause: sandbox.Garbage,
			detail: "the limit is 1048576"},
		"answer of minus one": {module: reactor(i64c(-1)), cause: sandbox.Garbage},
		"answer above the limit": {module: reactor(cat(i32c(32), grow, drop, answer(0, 1<<20+1))), cause: sandbox.Garbage,
			detail: "1048577 bytes"},
		"exit with zero": {module: reactor(cat(i32c(0), call(0), unreachable),
			imported{"wasi_snapshot_preview1", "proc_exit", []byte{i32}, nil}), cause: sandbox.Exit, detail: "code 0"},
		"abort of AssemblyScript": {
			module: text(reactor(cat(i32c(20), i32c(20), i32c(7), i32c(9), call(0), unreachable),
				imported{"env", "abort", []byte{i32, i32, i32, i32}, nil}), "\x06\x00\x00\x00b\x00o\x00o\x00"),
			cause: sandbox.Exit, detail: "code 255", log: "abort: boo at boo:7:9",
		},
		"abort with wild pointers": {module: reactor(cat(i32c(0), i32c(-2), i32c(7), i32c(9), call(0), unreachable),
			imported{"env", "abort", []byte{i32, i32, i32, i32}, nil}), cause: sandbox.Exit, log: "abort:"},
		"log flood without end": {module: text(reactor(loop(write(16, 6)), printing()), "flood\n"),
			cause: sandbox.Deadline, log: "flood\nflood"},
	}
	b := newBox(t, sandbox.Limits{Memory: 8 << 20, Answer: 1 << 20})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := load(t, b, test.module.bytes())
			for range 2 { // the second instance is as good as the first
				i, log := start(t, b, m)
				budget := short
				if test.cause != sandbox.Deadline {
					budget = 0
				}
				answer, _, err := i.Run(t.Context(), []byte("attack"), budget)
				e, ok := errors.AsType[*sandbox.Error](err)
				if !ok || e.Cause != test.cause || !strings.Contains(e.Detail, test.detail) ||
					!strings.Contains(e.Stack, test.stack) {
					t.Fatalf("Run = %.40q, %v; stack:\n%s\nwant %s with %q and a stack with %q",
						answer, err, stackOf(e), test.cause, test.detail, test.stack)
				}
				if !ended(i) {
					t.Error("the instance lives on")
				}
				if !strings.Contains(log.String(), test.log) {
					t.Errorf("log:\n%.200s\nwant %q in it", log, test.log)
				}
			}
		})
	}
}

func stackOf(e *sandbox.Error) string {
	if e == nil {
		return ""
	}
	return e.Stack
}

// The message of a panic is the reason, even if the log was full before. A stack without names is left out then.
func TestPanicMessageIsTheReason(t *testing.T) {
	t.Parallel()
	noise := strings.Repeat("panic at the disco, but no reason\n", 60)
	m := reactor(cat(write(16, len(noise)+len("panic: oh ")), write(16+len(noise)+len("panic: oh "), len("dear\n")),
		unreachable), printing())
	m.text = noise + "panic: oh dear\n"
	b := newBox(t, sandbox.Limits{Log: 1 << 10})
	i, log := start(t, b, load(t, b, m.bytes()))
	if e := fails(t, i, "attack", sandbox.Trap); e.Detail != "panic: oh dear (unreachable)" || e.Stack != "" {
		t.Errorf("it says %q, with the stack\n%s", e.Detail, e.Stack)
	}
	if strings.Contains(log.String(), "oh dear") {
		t.Errorf("the log was not full:\n%s", log)
	}
}

// A refusal of memory that the function survives is no error, and does not explain a later one.
func TestRefusedMemoryIsNoError(t *testing.T) {
	t.Parallel()
	b := newBox(t, sandbox.Limits{Memory: 1 << 20})
	greedy := cat(get(0), []byte{0x45, 0x04, 0x40}, unreachable, []byte{0x0b}, i32c(9999), grow, drop, echo())
	i, _ := start(t, b, load(t, b, reactor(greedy).bytes()))
	if got := run(t, i, "fine"); got != "fine" {
		t.Errorf("answer = %q", got)
	}
	_ = fails(t, i, "", sandbox.Trap)
}

func TestLogIsLimited(t *testing.T) {
	t.Parallel()
	b := newBox(t, sandbox.Limits{Log: 4 << 10})
	// 1000 lines of 16 bytes in a run. The local counts.
	lines := cat([]byte{0x03, 0x40}, write(16, 16),
		get(1), i64c(1), []byte{0x7c, 0x22, 1}, i64c(1000), []byte{0x52, 0x0d, 0, 0x0b}, echo())
	many := reactor(lines, printing())
	many.text = "fifteen letters\n"
	t.Run("lines", func(t *testing.T) {
		i, log := start(t, b, load(t, b, many.bytes()))
		for n := 1; n <= 2; n++ { // every run has a quota of its own
			run(t, i, "x")
			// A line counts its bytes and 64 more.
			want := n * (4<<10/(15+64) + 1)
			if got := strings.Count(log.String(), "fifteen letters"); got != want {
				t.Errorf("after run %d: %d lines, want %d", n, got, want)
			}
		}
		if want := fmt.Sprintf("… %d bytes dropped", (1000-52)*16); !strings.HasSuffix(log.String(),
			want+": the log of a run is limited to 4096 bytes") {
			t.Errorf("log ends with %.200q, want %q", log.lines[len(log.lines)-1], want)
		}
	})
	t.Run("a line", func(t *testing.T) {
		b := newBox(t, sandbox.Limits{})
		long := reactor(cat(write(16, 20_000), write(16, 1), echo()), printing())
		long.text = "\n" + strings.Repeat("x", 19_999)
		i, log := start(t, b, load(t, b, long.bytes()))
		run(t, i, "x")
		want := "\n" + strings.Repeat("x", 8<<10) + fmt.Sprintf(" … %d bytes cut", 19_999-8<<10)
		if got := log.String(); got != want {
			t.Errorf("log = %.40q… of %d bytes, want %d", got, len(got), len(want))
		}
	})
	t.Run("no UTF-8", func(t *testing.T) {
		bad := reactor(cat(write(16, 4), echo()), printing())
		bad.text = "a\xffb\n"
		i, log := start(t, b, load(t, b, bad.bytes()))
		run(t, i, "x")
		if got := log.String(); got != "a\ufffdb" {
			t.Errorf("log = %q", got)
		}
	})
}

// Deadlines, memory and traps work at the start as in a run, and the author gets the reason.
// Promise 9.
func TestHostileStarts(t *testing.T) {
	t.Parallel()
	initialize := func(code []byte, imports ...imported) module {
		return reactor(echo(), imports...).with(function{export: "_initialize", code: code})
	}
	refused(t, newBox(t, sandbox.Limits{Start: time.Second}), map[string]refusal{
		"endless": {initialize(loop(nil)).bytes(), "the module does not start: the start took longer than 1s"},
	})
	b := newBox(t, sandbox.Limits{Memory: 1 << 20})
	boom := initialize(cat(write(16, 5), unreachable), printing())
	boom.text = "boom\n"
	refused(t, b, map[string]refusal{
		"trap":   {boom.bytes(), "the module does not start: unreachable; it printed: boom"},
		"memory": {initialize(cat(i32c(99), grow, drop, unreachable)).bytes(), "limit of 1 MiB"},
		"wrong ABI": {reactor(echo()).with(function{export: "mm_abi", results: []byte{i32}, code: i32c(2)}).bytes(),
			"mm_abi returned 2, this system speaks version 1"},
		"no manifest": {reactor(echo()).with(function{export: "mm_manifest", results: []byte{i64},
			code: answer(16, 4)}).bytes(), "mm_manifest: it is no JSON"},
		"wild manifest": {
			reactor(echo()).with(function{export: "mm_manifest", results: []byte{i64},
				code: answer(0xffff_0000, 4)}).bytes(), "mm_manifest returned 4 bytes at 0xffff0000",
		},
		"huge manifest": {
			reactor(echo()).with(function{export: "mm_manifest", results: []byte{i64},
				code: answer(0, 65_537)}).bytes(), "the limit is 65536",
		},
	})
}

// The stack is memory of the host that doubles as it grows, up to 100 MB beside its last copy. Only the default limits
// are always enough to detect its overflow.
func TestStackOverflow(t *testing.T) {
	t.Parallel()
	b := newBox(t, sandbox.Limits{})
	i, _ := start(t, b, load(t, b, recursion(true).bytes()))
	if e := fails(t, i, "", sandbox.Trap); !strings.Contains(e.Detail, "stack overflow") {
		t.Errorf("detail %q", e.Detail)
	}
}

// recursion is f(n) = f(n-1) + f(n-1), without a loop. A deep one is f(n) = f(n) + f(n).
func recursion(deep bool) module {
	less := []byte(nil)
	if !deep {
		less = cat(i64c(1), []byte{0x7d})
	}
	call3 := call(3)
	body := cat(get(0), []byte{0x50, 0x04, i64}, i64c(1), []byte{0x05},
		get(0), less, call3, get(0), less, call3, []byte{0x7c, 0x0b})
	return reactor(cat(i64c(60), call3)).with(function{export: "f", params: []byte{i64}, results: []byte{i64},
		code: body})
}
