package console

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"matchmaker.dev/services/internal/edge/oidc"
)

// Settings of the console.
type Settings struct {
	URL         string        `help:"Where the console finds the API, as in https://matchmaking.example.com. It believes whom the API believes." name:"api-url" placeholder:"URL" group:"console"`
	Environment string        `help:"What the console's pages say they show, such as staging." placeholder:"NAME" group:"console"`
	Production  bool          `help:"Show the environment in red." group:"console"`
	Session     time.Duration `help:"How long a login lasts at most. It ends with its token, too." name:"console-session" default:"8h" bounds:"1m..168h" group:"console"`
	Keys        string        `help:"File with the keys that seal logins, or env:NAME for an environment variable that holds them; all replicas need the same. 'matchmaker keys hosting FILE' makes one. Without it a login ends with the process." name:"console-keys" placeholder:"FILE" group:"console"`
	Issuer      string        `help:"Identity provider (OpenID Connect) at which viewers sign in, beside tokens. The API must trust its tokens." name:"console-issuer" placeholder:"URL" group:"console"`
	ClientID    string        `help:"The identifier that the provider gave to the console, of a public client with PKCE." name:"console-client-id" placeholder:"ID" group:"console"`
	Public      string        `help:"Where viewers find the console, as in https://console.example.com. The provider must know this address with /console/-/callback behind it." name:"console-url" placeholder:"URL" group:"console"`
	Scope       string        `help:"What the provider's token is to be good for." name:"console-scope" default:"openid" group:"console"`
	Audience    string        `help:"Whom the provider's token is for, where the provider wants to be told." name:"console-audience" group:"console"`
	Viewers     int           `help:"How many pages that are live one process serves." name:"console-viewers" default:"512" bounds:"1.." group:"console"`
}

// Validate names the flags that make no sense.
func (s *Settings) Validate() error {
	u, err := url.Parse(s.URL)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil:
		return errors.New("--api-url: an address such as https://matchmaking.example.com is expected")
	case (s.Issuer == "") != (s.ClientID == "") || (s.Issuer == "") != (s.Public == ""):
		return errors.New("--console-issuer, --console-client-id, --console-url: all of them are needed, or none")
	case s.Issuer != "" && !slices.Contains(strings.Fields(s.Scope), "openid"):
		return errors.New("--console-scope: openid is one of those that are needed")
	}
	for flag, text := range map[string]string{"--console-issuer": s.Issuer, "--console-url": s.Public} {
		u, err := url.Parse(text)
		if text != "" && (err != nil || u.Host == "" || u.User != nil || oidc.CheckSecret(u) != nil) {
			return errors.New(flag + ": an address such as https://login.example.com is expected")
		}
	}
	return nil
}
