package console

import (
	"errors"
	"net/url"
	"time"
)

// Settings of the console.
type Settings struct {
	URL         string        `help:"Where the console finds the API, as in https://matchmaking.example.com. It believes whom the API believes." name:"api-url" placeholder:"URL" group:"console"`
	Environment string        `help:"What the console's pages say they show, such as staging." placeholder:"NAME" group:"console"`
	Production  bool          `help:"Show the environment in red." group:"console"`
	Session     time.Duration `help:"How long a login lasts at most. It ends with its token, too." name:"console-session" default:"8h" group:"console"`
	Keys        string        `help:"File with the keys that seal logins, or env:NAME for an environment variable that holds them; all replicas need the same. 'matchmaker keys hosting FILE' makes one. Without it a login ends with the process." name:"console-keys" placeholder:"FILE" group:"console"`
	Viewers     int           `help:"How many pages that are live one process serves." name:"console-viewers" default:"512" group:"console"`
}

// Validate names the flags that make no sense.
func (s *Settings) Validate() error {
	u, err := url.Parse(s.URL)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil:
		return errors.New("--api-url: an address such as https://matchmaking.example.com is expected")
	case s.Session < time.Minute || s.Session > 7*24*time.Hour:
		return errors.New("--console-session: a minute to seven days are expected")
	case s.Viewers < 1:
		return errors.New("--console-viewers: 1 or more is expected")
	}
	return nil
}
