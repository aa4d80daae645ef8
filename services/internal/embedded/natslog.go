package embedded

import (
	"fmt"
	"log/slog"
	"strings"
)

// natsLog passes what the NATS server logs on to slog. Its notices are of no interest to whoever runs the matchmaker:
// they become debug lines.
type natsLog struct {
	log *slog.Logger
	// fatal gets the first reason why the server cannot run. The server does not end the process itself, whoever started
	// it has to look here.
	fatal chan string
}

func (l *natsLog) Noticef(format string, v ...any) { l.log.Debug("nats: " + fmt.Sprintf(format, v...)) }
func (l *natsLog) Debugf(format string, v ...any)  { l.log.Debug("nats: " + fmt.Sprintf(format, v...)) }
func (l *natsLog) Tracef(format string, v ...any)  { l.log.Debug("nats: " + fmt.Sprintf(format, v...)) }
func (l *natsLog) Errorf(format string, v ...any)  { l.log.Error("nats: " + fmt.Sprintf(format, v...)) }

// Warnf leaves out what would worry who starts dev: the password is new at each start, and in memory only.
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
