package embedded

import (
	"fmt"
	"log/slog"
	"strings"
)

// natsLog passes the NATS server's log on to slog. Its notices become debug lines.
type natsLog struct {
	log *slog.Logger
	// fatal gets the first reason why the server cannot run. The server does not end the process itself: the caller has
	// to look here.
	fatal chan string
}

func (l *natsLog) Noticef(format string, v ...any) { l.log.Debug("nats: " + fmt.Sprintf(format, v...)) }
func (l *natsLog) Debugf(format string, v ...any)  { l.log.Debug("nats: " + fmt.Sprintf(format, v...)) }
func (l *natsLog) Tracef(format string, v ...any)  { l.log.Debug("nats: " + fmt.Sprintf(format, v...)) }
func (l *natsLog) Errorf(format string, v ...any)  { l.log.Error("nats: " + fmt.Sprintf(format, v...)) }

// Warnf leaves out warnings that do not apply to dev: the password is new at each start, and in memory only.
func (l *natsLog) Warnf(format string, v ...any) {
	if !strings.HasPrefix(format, "Plaintext passwords detected") {
		l.log.Warn("nats: " + fmt.Sprintf(format, v...))
	}
}

func (l *natsLog) Fatalf(format string, v ...any) {
	select {
	case l.fatal <- fmt.Sprintf(format, v...):
	default:
	}
}
