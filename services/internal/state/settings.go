package state

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"matchmaker.dev/services/internal/platform/textfile"
)

// Settings are the settings of every process that has a Store.
type Settings struct {
	Server Server `embed:""`
	Limits Limits `embed:""`
}

// Validate names the flags that make no sense.
func (s *Settings) Validate() error { return s.Limits.Validate() }

// Server says which Redis to use, and how to log in.
type Server struct {
	URL      string `help:"Redis URL: redis://[user:password@]host:port[/db], unix:///path, redis-cluster://host:port of a cluster, or redis-sentinel://host:port?master_name=NAME of Sentinels (more of them with &addr=host:port); rediss for redis means TLS." default:"redis://127.0.0.1:6379" name:"redis" group:"connections"`
	User     string `help:"User of Redis, where the URL names none. 'matchmaker permissions redis' prints what each service's user needs." name:"redis-user" placeholder:"NAME" group:"connections"`
	Password string `help:"File with that user's password, or env:NAME for an environment variable that holds it. It is read again for every connection, so that it can be changed." name:"redis-password" placeholder:"FILE" group:"connections"`
	CA       string `help:"PEM file of the authorities that Redis's certificate may come from; the machine's when empty." name:"redis-ca" type:"existingfile" placeholder:"FILE" group:"connections"`
	Cert     string `help:"PEM file of the certificate that Redis is shown." name:"redis-cert" type:"existingfile" placeholder:"FILE" group:"connections"`
	Key      string `help:"PEM file of that certificate's key." name:"redis-key" type:"existingfile" placeholder:"FILE" group:"connections"`
}

// Limits of what is stored, for each project unless they say otherwise. All services of a system must have the same
// limits. 0 means no limit; for Backfills it means the default.
type Limits struct {
	Waiting        int     `help:"Most tickets of a project that may wait; a create beyond it is answered 429 until some were matched. 0 means no limit. A runner needs about 200 bytes for each." default:"1000000" name:"max-waiting" bounds:"0.." group:"tickets"`
	Results        int     `help:"Most tickets of a project whose results are kept at a time; a create beyond it is answered 429. Each takes about 0.65 kB of Redis, and counts for as long as --readable says, also when it is deleted before. 0 means no limit." default:"5000000" name:"max-results" bounds:"0.." group:"tickets"`
	TicketMemory   int     `help:"Most MiB that a project's tickets and their results may take, counting attributes and properties of more than 1 KiB and results of more than 1 KiB; a create beyond it is answered 429, and a match with larger results waits. Tickets count until they are deleted, by their players or after their results were readable. 0 means no limit." default:"512" name:"max-ticket-memory" bounds:"0.." group:"tickets"`
	PlayerRate     float64 `help:"How many tickets a second may be created for one player in the long run; one of several players counts for each of them. 0 means no limit. A person starts matchmaking a few times a minute." default:"1" bounds:"0..1000000" group:"tickets"`
	PlayerBurst    int     `help:"How many tickets may be created for one player at once." default:"20" bounds:"1.." rate:"player-rate" group:"tickets"`
	ProjectRate    float64 `help:"How many tickets a second a project may create in the long run; one of several players counts as one for each. 0 means no limit. One Redis stores about 50,000." default:"20000" bounds:"0..1000000" group:"tickets"`
	ProjectBurst   int     `help:"How many tickets a project may create at once, counted in the same way." default:"100000" bounds:"1.." rate:"project-rate" group:"tickets"`
	Keys           int     `help:"Most Idempotency-Keys of a project that are remembered, each for 10 to 20 minutes; a create with another one is answered 429. Each takes about 150 bytes of Redis. 0 means no limit." default:"5000000" name:"max-keys" bounds:"0.." group:"tickets"`
	Backfills      int     `help:"Most backfill tickets of a project; a create beyond it is answered 429." default:"100000" name:"max-backfills" bounds:"1.." group:"backfill"`
	BackfillMemory int     `help:"Most MiB that the attributes and properties of a project's backfill tickets may take, what functions make of them included; a create or a larger one beyond it is answered 429. 0 means no limit." default:"512" name:"max-backfill-memory" bounds:"0.." group:"backfill"`

	Awaited int `help:"Most matches of a project whose results are awaited, or were reported within a day; of further ones no result is taken. Each takes about 300 bytes of Redis and the ids of its players. 0 means no limit." default:"1000000" name:"max-awaited" bounds:"0.." group:"tickets"`
	Rated   int `help:"Most players of a project who have ratings or a standing; further ones get none. Each takes about 4 kB of Redis with one rating and its last 32 matches, and at most 25 kB. 0 means no limit." default:"1000000" name:"max-rated" bounds:"0.." group:"tickets"`

	RatingAge time.Duration `help:"Ratings and standing of a player that did not change for this long are deleted, and leaderboards in which nothing changed." name:"rating-age" default:"9600h" bounds:">0" group:"tickets"`

	Reserve string `help:"How much of Redis's maxmemory creates leave free, as a share (10%, up to 50%) or an amount (256MiB); while less is left, creates of tickets, backfill tickets, configs and functions are answered 503. What exists goes on. 0 means that creates are refused when Redis is full. It needs a maxmemory." default:"10%" name:"redis-reserve" group:"connections"`

	Projects int `help:"Most projects of the system: those that have, or had, a config, a function, a backfill ticket or a ticket. What would begin another is answered 400. 0 means no limit." default:"10000" name:"max-projects" bounds:"0.." group:"cycle"`

	Configs ConfigLimits `embed:""`
}

// Results are the settings of the services that write the results of tickets.
type Results struct {
	Readable time.Duration `help:"How long a ticket's result can be read." default:"10m" group:"tickets"`
}

// Player limits how often one player creates tickets.
func (l *Limits) Player() Rate { return Rate{PerSecond: l.PlayerRate, Burst: l.PlayerBurst} }

// Project limits how often all players of a project create tickets.
func (l *Limits) Project() Rate { return Rate{PerSecond: l.ProjectRate, Burst: l.ProjectBurst} }

// Validate names the flag that makes no sense.
func (l *Limits) Validate() error {
	_, err := parseReserve(l.Reserve)
	return err
}

// tls makes the TLS settings of --redis-ca, --redis-cert and --redis-key; nil when none of them is set.
func (s *Server) tls() (*tls.Config, error) {
	if s.CA == "" && s.Cert == "" && s.Key == "" {
		return nil, nil
	}
	secure := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.CA != "" {
		text, err := textfile.Read(s.CA)
		if err != nil {
			return nil, fmt.Errorf("--redis-ca: %w", err)
		}
		secure.RootCAs = x509.NewCertPool()
		if !secure.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("--redis-ca: %s holds no certificate", s.CA)
		}
	}
	if s.Cert != "" || s.Key != "" {
		if s.Cert == "" || s.Key == "" {
			return nil, errors.New("--redis-cert, --redis-key: one is of no use without the other")
		}
		pair, err := textfile.KeyPair(s.Cert, s.Key)
		if err != nil {
			return nil, fmt.Errorf("--redis-cert, --redis-key: %w", err)
		}
		secure.Certificates = []tls.Certificate{pair}
	}
	return secure, nil
}
