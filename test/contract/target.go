package contract

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
)

// Target is the system that is tested.
type Target struct {
	// URL is its base address, without a slash at the end.
	URL string
	// Project is the project of the tests. Nothing else may use it meanwhile.
	Project string
	// Another is the project of the actors from another project, "" when its name is unknown. Tests use up its limits.
	Another string
	// Token returns the token of an actor, "" when there is none. Requirements that need it are then not tried.
	Token func(Actor) (string, error)
	// HTTP is the client; a new one when nil.
	HTTP *http.Client
	// Hosting tells that game servers can be allocated.
	Hosting bool
	// MaxWaiting is how many tickets of the project may wait; 0 when these are too many for a test.
	MaxWaiting int
	// Complete tells that the target has all that the requirements need. One that is not tried fails then.
	Complete bool
}

// FewWaiting is a limit of waiting tickets that a test can reach, and that the other tests do not.
const FewWaiting = 600

// Modest are arguments of matchmaker for limits that tests reach on any machine, however slow it is. They allow the
// bursts that the tests need, and few requests after that.
func Modest() []string {
	return []string{
		"--max-waiting", strconv.Itoa(FewWaiting), "--api-rate", "10", "--api-burst", "700",
		"--read-rate", "5", "--read-burst", "100",
	}
}

// Actor is a caller.
type Actor string

// The actors. Each has a token of its own; Nobody has none.
const (
	Nobody    Actor = ""
	Player    Actor = "player"
	Other     Actor = "other"     // another player
	Developer Actor = "developer" // an owner of the project
	Guest     Actor = "guest"     // a developer that is neither Manager nor Owner
	Support   Actor = "support"   // a developer that may look and change nothing
	Server    Actor = "server"
	Service   Actor = "service"   // a game service that acts for players
	Reader    Actor = "reader"    // a game service that only reads
	Stranger  Actor = "stranger"  // a player of another project
	Outsider  Actor = "outsider"  // an owner of another project
	Elsewhere Actor = "elsewhere" // a server of another project
	Expired   Actor = "expired"   // a player whose token has expired
)

// Actors lists the actors with tokens.
func Actors() []Actor {
	return []Actor{
		Player, Other, Developer, Guest, Support, Server, Service, Reader, Stranger, Outsider, Elsewhere, Expired,
	}
}

// Another is the other project of minted tokens.
const Another = "contract-elsewhere"

// Minted mints the tokens for an installation that trusts an issuer.
func Minted(i *issuer.Issuer, project string) func(Actor) (string, error) {
	claims := map[Actor]issuer.Claims{
		Player:    {Kind: auth.Player, Project: project},
		Other:     {Kind: auth.Player, Project: project},
		Developer: {Kind: auth.Developer, Project: project, Role: "Owner"},
		Guest:     {Kind: auth.Developer, Project: project, Role: "Guest"},
		Support:   {Kind: auth.Developer, Project: project, Role: "Support"},
		Server:    {Kind: auth.Server, Project: project},
		Service:   {Kind: auth.Service, Project: project, Scope: auth.ScopeAct},
		Reader:    {Kind: auth.Service, Project: project, Scope: auth.ScopeRead},
		Stranger:  {Kind: auth.Player, Project: Another},
		Outsider:  {Kind: auth.Developer, Project: Another, Role: "Owner"},
		Elsewhere: {Kind: auth.Server, Project: Another},
		Expired:   {Kind: auth.Player, Project: project, TTL: -time.Hour},
	}
	return func(a Actor) (string, error) {
		c := claims[a]
		c.Subject = "contract-" + string(a)
		return i.Mint(c)
	}
}

// subjectOf is the subject of a token. It does not verify the token.
func subjectOf(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return ""
	}
	var claims struct {
		Sub string `json:"sub"`
	}
	if json.Unmarshal(text, &claims) != nil {
		return ""
	}
	return claims.Sub
}
