package sandbox_test

import (
	"testing"

	"matchmaker.dev/services/internal/sandbox"
)

// What WASI answers about standard input, output and error, which are no folders, no sockets, and have no position.
func TestDescriptorsOfWASI(t *testing.T) {
	t.Parallel()
	const badf, nosys, notdir, success = 8, 52, 54, 0
	type attempt struct {
		name string
		args []byte // their types, after the descriptor
		want [4]int // for the descriptors 0, 1, 2 and 3
	}
	all := func(errno int) [4]int { return [4]int{errno, errno, errno, badf} }
	b := newBox(t, sandbox.Limits{})
	for _, c := range []attempt{
		{"fd_prestat_get", []byte{i32}, all(badf)},
		{"fd_prestat_dir_name", []byte{i32, i32}, all(badf)},
		{"fd_readdir", []byte{i32, i32, i64, i32}, all(badf)},
		{"fd_fdstat_get", []byte{i32}, all(success)},
		{"fd_filestat_get", []byte{i32}, all(success)},
		{"fd_seek", []byte{i64, i32, i32}, all(nosys)},
		{"fd_tell", []byte{i32}, all(nosys)},
		{"fd_write", []byte{i32, i32, i32}, [4]int{badf, success, success, badf}},
		{"path_open", []byte{i32, i32, i32, i32, i64, i64, i32, i32}, all(notdir)},
		{"path_filestat_get", []byte{i32, i32, i32, i32}, all(notdir)},
		{"path_create_directory", []byte{i32, i32}, all(notdir)},
		{"path_unlink_file", []byte{i32, i32}, all(notdir)},
		{"sock_accept", []byte{i32, i32}, all(badf)},
		{"sock_shutdown", []byte{i32}, all(badf)},
	} {
		t.Run(c.name, func(t *testing.T) {
			// A request of n bytes is for descriptor n. All other arguments are 64, or 0. The answer is as long as the errno.
			code := get(0)
			for _, a := range c.args {
				if a == i64 {
					code = append(code, i64c(0)...)
				} else {
					code = append(code, i32c(64)...)
				}
			}
			m := reactor(cat(code, call(0), []byte{0xad}), imported{"wasi_snapshot_preview1", c.name,
				append([]byte{i32}, c.args...), []byte{i32}})
			i, _ := start(t, b, load(t, b, m.bytes()))
			for fd, want := range c.want {
				if got := len(run(t, i, "xxxx"[:fd])); got != want {
					t.Errorf("descriptor %d: errno %d, want %d", fd, got, want)
				}
			}
		})
	}
}
