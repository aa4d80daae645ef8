//go:build !linux

package web

import (
	"net"
	"time"
)

// limitUnconfirmed is for Linux alone: elsewhere the system's own time counts.
func limitUnconfirmed(net.Conn, time.Duration) {}
