// Package sandbox runs match functions: WebAssembly modules that strangers
// uploaded. It keeps one operating-system process per function instance and
// moves bytes in and out of it; what the bytes mean is its caller's business.
//
// # The module
//
// A match function is a module in reactor form. It exports
//
//	memory                       its linear memory
//	_initialize()                optional, called once before anything else
//	mm_abi() -> i32              the version of this interface: 1
//	mm_alloc(len i32) -> i32     where to put requests of up to len bytes, never 0
//	mm_run(len i32) -> i64       runs on the request: ptr<<32 | len of the answer
//	mm_manifest() -> i64         optional, ptr<<32 | len of a JSON [Manifest]
//
// and imports nothing but wasi_snapshot_preview1, env.abort, which
// AssemblyScript calls, and mm.sort and mm.gather, which sort and look up for it. Standard output and error are its log. It sees no
// files, no network, no arguments and no environment, and a clock and a random
// source that are the same in every run, so that a run can be replayed.
//
// # The walls
//
// The engine's own sandbox is the first wall. It cannot stop a guest that
// computes (its checks cost 5-6 times the run, and recursion evades them), a
// computing guest blocks the garbage collector of the process it is in, and
// compiling a hostile module takes minutes and gigabytes. So both are done in a
// child process, the second wall: the runner's own binary, executed again, see
// [Main]. A deadline is SIGKILL. RLIMIT_DATA bounds memory, the wasm stack
// included. A child has no environment, three pipes, on Linux the guest's memory, and no other descriptor, its
// own session, no core dumps, nothing to gain from a setuid binary, no capabilities of root, its memory
// is not for others of its user to read, and it dies with its parent.
//
// On Linux (amd64, arm64) that is a locked room as well. By Landlock, where the kernel has it
// (5.13 and later), a child reaches its module's folder and no other file: a compiler may write the
// machine code there, an instance may only read. A system call filter leaves it files, memory and threads while it
// reads or compiles the module, and only its pipes, memory that holds no code, and threads before the module's
// code runs: it can open, connect to, execute or signal nothing.
//
// Long requests and answers do not go through the pipes: the guest's linear memory is a file without a name that both
// processes map, whose size is sealed. This process writes a request there, and copies an answer out, once, before it looks at it;
// it believes nothing that it did not copy, since the other side may write at any time. Where a system has no such files, the pipes carry all.
//
// What a kernel or a container really does shows in no version number. So New has a child
// try all that from inside, and refuses to work, or warns, when something that must not succeed does: see
// [Options.Require].
//
// What is not walled off: the processor's side channels, how many threads a child makes, as
// Go must, and that it has the uid of the runner. Run the runner as a user of its own, without secrets, and
// in a container with a limit of processes.
package sandbox

// Command is the argument that [Box] starts a child with by default. A binary
// that keeps a Box must hand over to [Main] before it does anything else:
//
//	if len(os.Args) == 2 && os.Args[1] == sandbox.Command {
//		os.Exit(sandbox.Main())
//	}
const Command = "instance"
