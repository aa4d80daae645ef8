// Package sandbox runs match functions: WebAssembly modules from untrusted authors. It keeps one operating-system
// process per function instance and moves bytes in and out of it. What the bytes mean is up to the caller.
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
// and imports nothing but wasi_snapshot_preview1, env.abort, which AssemblyScript calls, and mm.sort and mm.gather,
// which sort and look up numbers for it. Standard output and error are its log. It sees no files, no network, no
// arguments and no environment. Its clock and its random numbers are the same in every run, so that a run can be
// replayed.
//
// # The walls
//
// The engine's own sandbox is the first wall. It cannot stop a guest that computes: its checks take 5 to 6 times as
// long as the run, and recursion evades them. A computing guest also blocks the garbage collector of its process, and
// compiling a hostile module takes minutes and gigabytes. So a child process runs and compiles modules. It is the
// second wall: the runner's own binary, executed again, see [Main].
//
// SIGKILL enforces deadlines. RLIMIT_DATA bounds memory, the WebAssembly stack included, and RLIMIT_AS addresses. A
// child is nicer than the runner, so that a computing function delays neither the runner's own work nor what else runs
// on the machine. A child has no environment and no descriptors but three pipes and, on Linux, the guest's memory. It
// has its own session, no core dumps, no gain from a setuid binary and no capabilities of root. Other processes of its
// user cannot read its memory, and it ends when its parent ends.
//
// On Linux (amd64, arm64) a child is locked in as well. With Landlock, where the kernel has it (5.13 and later), it
// reaches the folder of its module and no other file: a compiler may write the machine code there, an instance may only
// read. A system call filter allows files, memory and threads while a child reads or compiles the module. Before the
// module's code runs, a second filter leaves only the pipes, and private memory that holds no code: the child cannot
// open, connect to, execute or signal anything. It has all its threads by then, and cannot start another one. Its
// memory lies close together and is never unmapped, which bounds its page tables to 64 MiB.
//
// Long requests and answers do not go through the pipes. The guest's linear memory is a file without a name that both
// processes map, with a sealed size. The parent writes a request there, and copies an answer out once before it looks
// at it. It trusts nothing that it did not copy, since the child may write at any time. On systems without such files
// everything goes through the pipes.
//
// The parent charges what it reads. Each frame and line of log counts against a limit of the run, and so does what the
// child writes to its standard error. It reads nothing between runs.
//
// Version numbers do not show what a kernel or a container really enforces. So New lets a child try all of this from
// inside, and refuses to work, or warns, when something succeeds that must not: see [Options.Require].
//
// Not walled off are: the processor's side channels; the number of threads of a child that compiles, which runs no code
// of the module; and the uid, which is the runner's. Run the runner as a user of its own, without secrets, in a
// container with a limit of processes: New warns when there is none.
//
// # The files
//
// Parent: supervisor.go and cache.go keep modules, instance.go is an instance, process.go and exchange.go are its child
// process and the talk with it. Both sides: protocol.go, limits.go, manifest.go. settings.go has the flags of an
// operator. Child: child_*.go, with child.go first. Walls: wall_*.go, put up partly by the parent (wall_launch,
// wall_landlock) and partly by the child itself (wall_limits, wall_seccomp); wall_inspect tries them. other.go is what
// systems other than Linux have instead.
package sandbox

// Command is the argument that [Supervisor] starts a child with by default. A binary that makes a Supervisor must call
// [Main] before it does anything else:
//
//	if len(os.Args) == 2 && os.Args[1] == sandbox.Command {
//		os.Exit(sandbox.Main())
//	}
const Command = "instance"
