package embedded

import (
	"log/slog"
	"regexp"
	"strings"
	"sync/atomic"
)

// redisLine takes apart "12345:M 21 Nov 2025 03:22:00.123 # Ready to accept connections" into the level, one of . - * #
// (the highest), and the text.
var redisLine = regexp.MustCompile(`^\d+:[A-Z] \d+ \w+ \d+ [\d:.]+ ([.*#-]) (.*)$`)

// redisLog passes the lines that Redis writes on to slog.
type redisLog struct {
	log *slog.Logger
	// warn logs Redis's warnings as warnings. While the server starts and stops it writes greetings as warnings; they
	// matter only when it fails, and then the error has them.
	warn atomic.Bool
}

func (l *redisLog) add(text string) {
	text = strings.TrimSpace(text)
	log := l.log.Debug
	if m := redisLine.FindStringSubmatch(text); m != nil {
		text = m[2]
		if m[1] == "#" && l.warn.Load() {
			log = l.log.Warn
		}
	}
	if text != "" {
		log("redis: " + text)
	}
}
