package bus

import (
	"errors"
	"strings"
	"time"

	"matchmaker.dev/services/internal/platform/account"
)

// Settings are the settings of every process that has a Bus.
type Settings struct {
	Server Server `embed:""`
	Events Events `embed:""`
}

// Server names the NATS to use, and this process's login.
type Server struct {
	URL         string `help:"NATS URL; several servers of a cluster with commas between. tls:// means TLS." name:"nats" default:"nats://127.0.0.1:4222" group:"connections"`
	User        string `help:"User of NATS, where the URL names none. 'matchmaker permissions nats' prints what each service's user needs." name:"nats-user" placeholder:"NAME" group:"connections"`
	Password    string `help:"File with that user's password, or env:NAME for an environment variable that holds it. It is read again for every connection, so that it can be changed." name:"nats-password" placeholder:"FILE" group:"connections"`
	Credentials string `help:"NATS credentials file: what a user of NATS has instead of a password where accounts are decentralized." name:"nats-credentials" type:"existingfile" placeholder:"FILE" group:"connections"`
	NKey        string `help:"File with the seed of a user's NKey: what a user of NATS has instead of a password where its configuration names public keys." name:"nats-nkey" type:"existingfile" placeholder:"FILE" group:"connections"`
	CA          string `help:"PEM file of the authorities that the NATS servers' certificates may come from; the machine's when empty. A tls:// URL asks for TLS." name:"nats-ca" type:"existingfile" placeholder:"FILE" group:"connections"`
	Cert        string `help:"PEM file of the certificate that NATS is shown." name:"nats-cert" type:"existingfile" placeholder:"FILE" group:"connections"`
	Key         string `help:"PEM file of that certificate's key." name:"nats-key" type:"existingfile" placeholder:"FILE" group:"connections"`
	Replicas    int    `help:"Replicas of the JetStream streams: 1, 3 or 5." default:"1" name:"stream-replicas" group:"connections"`
}

// Events is what is kept of events. All services of a system must have the same. A zero means the default.
type Events struct {
	Age   time.Duration `help:"How long events, which say what happened to tickets and matches, can be read. 0 means that there are none." default:"24h" name:"event-age" bounds:"0..87600h" group:"events"`
	Bytes int64         `help:"Most bytes of events that can be read, of all projects; beyond it the oldest go." default:"1073741824" name:"event-bytes" bounds:"1.." group:"events"`
	Rate  int64         `help:"How many tickets a second there is room for: the events of so many in --event-age, if they take more than --event-bytes." default:"0" name:"event-rate" bounds:"0..1000000" group:"events"`
}

// ticketEvents is about how many bytes the events of a ticket take that is matched and read.
const ticketEvents = 300

// room is how many bytes of events can be read.
func (e *Events) room() int64 {
	if seconds := int64(e.Age / time.Second); e.Rate > 0 && seconds > 0 {
		return max(e.Bytes, e.Rate*ticketEvents*seconds)
	}
	return e.Bytes
}

// Logs is what is kept of the logs of functions. All services of a system must have the same. A zero means the default.
type Logs struct {
	Age   time.Duration `help:"How long the log of a function is kept." default:"24h" name:"log-age" bounds:">0" group:"runner"`
	Size  int64         `help:"Most MiB of the log of one function; then the oldest lines go." default:"64" group:"runner" name:"log-size" bounds:"1.."`
	Total int64         `help:"Most MiB of the logs of all functions together." default:"1024" group:"runner" name:"log-total" bounds:"1.."`
}

// backlog is how many events are kept until they are published: with tickets of 36 bytes about 250 MB, which is what
// 10,000 tickets a second make in two minutes.
const backlog = 5_000_000

// Backlog is how many events the state store keeps until they are published; none when no events are published.
func (e *Events) Backlog() int {
	if e.Age == 0 {
		return 0
	}
	return backlog
}

// login is the user that the settings name. It refuses settings with two logins.
func (s *Server) login() (account.Login, error) {
	login, err := account.ReadLogin("nats", s.User, s.Password)
	if err != nil {
		return login, err
	}
	if (s.Cert == "") != (s.Key == "") {
		return login, errors.New("--nats-cert, --nats-key: one is of no use without the other")
	}
	ways := 0
	for _, given := range []bool{login.Given(), s.Credentials != "", s.NKey != "", strings.Contains(s.URL, "@")} {
		if given {
			ways++
		}
	}
	if ways > 1 {
		return login, errors.New("--nats-user and --nats-password, --nats-credentials, --nats-nkey and a user in the " +
			"URL of --nats: use only one of these")
	}
	return login, nil
}
