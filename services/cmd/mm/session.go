package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/pkg/matchfn/rules/document"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/platform/memo"
)

// session is one run of a command: its flags and its environment.
type session struct {
	commonFlags
	console
	given     commonFlags    // as on the command line and in the environment
	line      given          // what the command line itself gives
	context   string         // the name of the context that applies; empty if none does
	kept      *keptContext   // that context
	watched   *session       // that this session is a look of; nil if it is none
	api       *client.Client // of all looks of this session
	tokenMade bool           // with the key in the data folder, not given by the user
	bar       *bar           // on the terminal now; may be nil
}

// What applies where neither a flag nor the environment nor a context says it.
const (
	defaultURL     = "http://127.0.0.1:8080"
	defaultProject = "demo"
	defaultData    = ".matchmaker"
)

// urlFile is the file in the data folder of a development service that has its URL.
const urlFile = "url"

// newSession completes the flags: by the context, unless --data or the URL of another service leaves it out, by the
// development service in the data folder, and by what is usual.
func newSession(given commonFlags, c console) (*session, error) {
	s := &session{commonFlags: given, console: c, given: given}
	name, kept, err := s.currentContext()
	if err != nil {
		return s, err
	}
	if kept != nil && s.Data == "" && (s.URL == "" || sameURL(s.URL, kept.URL)) {
		s.context, s.kept = name, kept
		s.URL, s.Project, s.Data = cmp.Or(s.URL, kept.URL), cmp.Or(s.Project, kept.Project), kept.Data
		s.Bearer = cmp.Or(s.Bearer, kept.Token)
	}
	s.Project = cmp.Or(s.Project, defaultProject)
	s.Data = findUpward(cmp.Or(s.Data, defaultData))
	if s.URL == "" {
		s.URL = cmp.Or(urlIn(s.Data), defaultURL)
	}
	return s, nil
}

// urlIn is the URL of the development service with this data folder; empty if that is not known.
func urlIn(data string) string {
	file, err := os.Open(filepath.Join(data, urlFile))
	if err != nil {
		return ""
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, 1<<10))
	at := strings.TrimSpace(string(text))
	if err != nil || checkURL(urlFile, at) != nil {
		return ""
	}
	return at
}

// findUpward returns the path of a folder that is given without slashes: in the working directory or the nearest folder
// above that has it. It returns name if there is none.
func findUpward(name string) string {
	here, err := os.Getwd()
	if err != nil || filepath.Base(name) != name {
		return name
	}
	for dir := here; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			if dir == here {
				return name
			}
			return filepath.Join(dir, name)
		}
		if dir == filepath.Dir(dir) {
			return name
		}
	}
}

// The claims of the tokens that mm makes:

func asDeveloper() issuer.Claims {
	return issuer.Claims{Kind: auth.Developer, Subject: "mm", Role: "Owner"}
}

func asPlayer(player string) issuer.Claims { return issuer.Claims{Kind: auth.Player, Subject: player} }

func asServer() issuer.Claims { return issuer.Claims{Kind: auth.Server, Subject: "mm"} }

func asGameService() issuer.Claims {
	return issuer.Claims{Kind: auth.Service, Subject: "mm", Scope: "matchmaking"}
}

// connect returns a client with the user's token, or with tokens that are made for claims.
func (s *session) connect(claims issuer.Claims, options ...func(*client.Retry)) (_ *client.Client, err error) {
	if all := s.watched; all != nil { // which keeps its connection and token, and tells of them at once
		if all.api == nil { // it outlasts a restart of the service
			all.api, err = all.connect(claims, append([]func(*client.Retry){reconnecting}, options...)...)
		}
		s.tokenMade = all.tokenMade
		return all.api, err
	}
	token := client.StaticToken(s.Bearer)
	switch {
	case s.Bearer != "":
	case s.kept != nil && (s.kept.TokenCommand != "" || s.kept.Login != nil):
		token = s.contextTokens()
	default:
		if token, err = s.tokenSource(claims); err != nil {
			return nil, err
		}
		s.tokenMade = true
	}
	retry := client.Retry{
		// The user waits: fail at once when no service answers.
		Reconnects: -1,
		Sleep:      s.sleep, Now: s.now,
		Notify: func(err error, wait time.Duration) {
			for _, text := range s.errorLines(err) {
				s.note("%s; retrying in %s", text, wait.Round(100*time.Millisecond))
			}
		},
	}
	for _, option := range options {
		option(&retry)
	}
	api, err := client.New(client.Options{
		URL: s.URL, Project: s.Project, Token: token, UserAgent: "mm/" + version, Retry: retry,
	})
	if err != nil {
		return nil, usageError(strings.TrimPrefix(err.Error(), "client: "))
	}
	return api, nil
}

// developerAPI and serverAPI are clients for commands that call the API first.
type (
	developerAPI struct{ *client.Client }
	serverAPI    struct{ *client.Client }
)

func (s *session) developerAPI() (developerAPI, error) {
	api, err := s.connect(asDeveloper())
	return developerAPI{api}, err
}

func (s *session) serverAPI() (serverAPI, error) {
	api, err := s.connect(asServer())
	return serverAPI{api}, err
}

// reconnecting retries when the connection fails, so that waiting for a match outlasts a restart of the service.
func reconnecting(r *client.Retry) { r.Reconnects = 5 }

// tokenSource makes a token, and a new one after each --timeout: commands that follow a log run for longer.
func (s *session) tokenSource(claims issuer.Claims) (client.TokenSource, error) {
	claims.Project = s.Project
	claims.TTL = s.Timeout + time.Minute // outlives each request that begins within --timeout
	tokens := s.keepTokens(func(context.Context) (string, error) { return s.mintToken(claims) })
	_, err := tokens(context.Background())
	return tokens, err
}

// keepTokens gives the token of a source for --timeout, and then its next one.
func (s *session) keepTokens(source client.TokenSource) client.TokenSource {
	var kept memo.Memo[string, string]
	return func(ctx context.Context) (string, error) {
		return kept.Get("", s.now, func() (string, time.Time, error) {
			token, err := source(ctx)
			return token, s.now().Add(s.Timeout), err
		})
	}
}

// contextTokens gives the tokens of the context.
func (s *session) contextTokens() client.TokenSource {
	if s.kept.Login == nil {
		return s.keepTokens(s.commandToken)
	}
	var mu sync.Mutex
	return func(ctx context.Context) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		return s.loginToken(ctx)
	}
}

// maxToken bounds what a command prints as a token, in bytes.
const maxToken = 64 << 10

// commandToken runs the command of the context that prints a token.
func (s *session) commandToken(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", s.kept.TokenCommand)
	cmd.Stderr = s.err
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("the command for a token: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(out, maxToken))
	if err = errors.Join(err, cmd.Wait()); err == nil {
		text, err = document.Text(text) // of a file that an editor or a shell wrote
	}
	if err != nil {
		return "", fmt.Errorf("the command for a token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" {
		return "", errors.New("the command for a token printed nothing")
	}
	return token, nil
}

// mintToken makes a token with the key of the development service.
func (s *session) mintToken(claims issuer.Claims) (string, error) {
	if !auth.IsPlayer(claims.Subject) {
		return "", usageError(s.line.holding(claims.Subject) + ": up to 256 bytes of printable UTF-8 are expected")
	}
	// issuer.Open makes a key if there is none. No service would trust that key.
	if _, err := os.Stat(filepath.Join(s.Data, "issuer.jwk")); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("the key to make a token with: %w", err)
		}
		return "", fmt.Errorf("there is no key in %s to make a token with: start \"matchmaker dev\", give its folder with "+
			"--data or a token with --token, or log in with \"mm login\"", s.Data)
	}
	i, err := issuer.Open(s.Data, s.now)
	if err != nil {
		return "", fmt.Errorf("the key to make a token with: %w", err)
	}
	return i.Mint(claims)
}

// noteIfUnknown tells that the name of the project may be wrong, if it has no config. An error does not matter.
func (s *session) noteIfUnknown(ctx context.Context, api *client.Client) {
	if configs, err := api.ListConfigs(ctx); err == nil && len(configs) == 0 {
		s.note("project %s has no configs: is that its name (--project)?", s.Project)
	}
}

// note writes a line to standard error, above the progress bar.
func (s *session) note(format string, args ...any) {
	text := oneLine(fmt.Sprintf(format, args...))
	if s.bar != nil {
		s.bar.log("mm: " + text)
		return
	}
	s.message(text)
}
