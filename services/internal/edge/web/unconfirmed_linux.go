package web

import (
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// limitUnconfirmed makes the system end a connection whose other side confirms nothing for a time of what was sent to
// it. Without it that takes a quarter of an hour. Connections other than TCP have no such limit.
func limitUnconfirmed(c net.Conn, after time.Duration) {
	if ours, ok := c.(conn); ok {
		c = ours.Conn
	}
	system, ok := c.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := system.SyscallConn()
	if err != nil {
		return // it is closed
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(after.Milliseconds()))
	})
}
