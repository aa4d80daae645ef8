package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/internal/issuer"
)

// session is one run of a command: its flags and its environment.
type session struct {
	commonFlags
	console
	tokenMade bool // with the key in the data folder, not given by the user
	bar       *bar // on the terminal now; may be nil
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
func (s *session) connect(claims issuer.Claims, options ...func(*client.Retry)) (*client.Client, error) {
	token := client.StaticToken(s.Bearer)
	if s.Bearer == "" {
		var err error
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
	return client.New(client.Options{
		URL: s.URL, Project: s.Project, Token: token, UserAgent: "mm/" + version, Retry: retry,
	})
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
	made := s.now()
	token, err := s.mintToken(claims)
	return func(context.Context) (string, error) {
		if now := s.now(); now.Sub(made) > s.Timeout {
			fresh, err := s.mintToken(claims)
			if err != nil {
				return "", err
			}
			token, made = fresh, now
		}
		return token, nil
	}, err
}

// mintToken makes a token with the key of the development service.
func (s *session) mintToken(claims issuer.Claims) (string, error) {
	// issuer.Open makes a key if there is none. No service would trust that key.
	if _, err := os.Stat(filepath.Join(s.Data, "issuer.jwk")); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("the key to make a token with: %w", err)
		}
		return "", fmt.Errorf("there is no key in %s to make a token with: "+
			"start \"matchmaker dev\", or give its folder with --data or a token with --token", s.Data)
	}
	i, err := issuer.Open(s.Data, s.now)
	if err != nil {
		return "", fmt.Errorf("the key to make a token with: %w", err)
	}
	return i.Mint(claims)
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
