package app

import "time"

// Settings are the settings of every process.
type Settings struct {
	Listen    string `help:"Address to serve HTTP on: the API, /healthz and /readyz." default:"${listen}" group:"process"`
	Name      string `help:"Name that tells this process from its replicas; made up when empty." group:"process"`
	LogLevel  string `help:"Least level to log: debug, info, warn or error. Requests that succeed are logged at debug." enum:"debug,info,warn,error" default:"info" group:"process"`
	LogFormat string `help:"Format of the log on standard error: json or text." enum:"json,text" default:"${logformat}" group:"process"`
}

// Shutdown is how a process stops.
type Shutdown struct {
	// Requests under way have half of Drain, the parts' Runs the rest.
	Drain time.Duration `help:"How long a stopping process may take to finish what it has in hand." default:"15s" group:"process"`
	// Answers end their connections meanwhile, so that nobody sends a request on one that is about to be closed.
	Grace time.Duration `help:"How long a stopping process says it is not ready before it takes no more requests: as long as a load balancer needs to notice." default:"0s" group:"process"`
}
