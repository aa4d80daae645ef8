package app

import (
	"fmt"
	"math"
	"net"
	"strconv"
	"time"
)

// Settings are the settings of every process.
type Settings struct {
	Listen    string `help:"Address to serve HTTP on: the API, /healthz and /readyz." default:"${listen}" group:"process"`
	Name      string `help:"Name that tells this process from its replicas; made up when empty." group:"process"`
	LogLevel  string `help:"Least level to log: debug, info, warn or error. Requests that succeed are logged at debug." enum:"debug,info,warn,error" default:"info" group:"process"`
	LogFormat string `help:"Format of the log on standard error: json or text." enum:"json,text" default:"${logformat}" group:"process"`
}

// Validate names the flag that makes no sense.
func (s *Settings) Validate() error {
	if err := CheckAddress(s.Listen); err != nil {
		return fmt.Errorf("--listen: an address such as :8080 or 127.0.0.1:8080 is expected: %w", err)
	}
	return nil
}

// CheckAddress returns why nothing can listen at an address, whatever the machine.
func CheckAddress(address string) error {
	_, port, err := net.SplitHostPort(address)
	if n, name := strconv.Atoi(port); err == nil && name == nil && (n < 0 || n > math.MaxUint16) {
		err = fmt.Errorf("there is no port %s", port)
	}
	return err
}

// Shutdown is how a process stops.
type Shutdown struct {
	// Requests under way have half of Drain, the parts' Runs the rest.
	Drain time.Duration `help:"How long a stopping process may take to finish what it has in hand." default:"15s" bounds:">0" group:"process"`
	// Answers end their connections meanwhile, so that clients send no request on one that is about to be closed.
	Grace time.Duration `help:"How long a stopping process says it is not ready before it takes no more requests: as long as a load balancer needs to notice." default:"0s" bounds:"0.." group:"process"`
}
