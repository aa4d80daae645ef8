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

// session is one run of a command: the flags, and what surrounds it.
type session struct {
	commonFlags
	console
	minted bool // the token in use was made here
	bar    *bar // on the terminal now; may be nil
}

// nearest is where a folder that is given by its name alone is: here, or in a folder above, as for somebody who works in
// a project's folder.
func nearest(name string) string {
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

// Claims of the tokens that mm makes for itself.
func asDeveloper() issuer.Claims {
	return issuer.Claims{Kind: auth.Developer, Subject: "mm", Role: "Owner"}
}
func asPlayer(player string) issuer.Claims {
	return issuer.Claims{Kind: auth.Player, Subject: player}
}
func asServer() issuer.Claims {
	return issuer.Claims{Kind: auth.Server, Subject: "mm"}
}
func asGameService() issuer.Claims {
	return issuer.Claims{Kind: auth.Service, Subject: "mm", Scope: "matchmaking"}
}

// connect is a client with the token that was given, or one made for claims.
func (s *session) connect(claims issuer.Claims, options ...func(*client.Retry)) (*client.Client, error) {
	token := client.StaticToken(s.Bearer)
	if s.Bearer == "" {
		var err error
		if token, err = s.minting(claims); err != nil {
			return nil, err
		}
		s.minted = true
	}
	retry := client.Retry{
		// Someone looks on: that nobody answers is better known now than in a minute.
		Reconnects: -1,
		Sleep:      s.sleep, Now: s.now,
		Notify: func(err error, wait time.Duration) {
			for _, text := range s.explain(err) {
				s.note("%s; again in %s", text, wait.Round(100*time.Millisecond))
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

// patient keeps trying when the connection fails, as is right for someone who
// waits for a match while the service restarts.
func patient(r *client.Retry) { r.Reconnects = 5 }

// minting makes a token, and another when a command takes longer than --timeout, as one
// does that follows something.
func (s *session) minting(claims issuer.Claims) (client.TokenSource, error) {
	claims.Project = s.Project
	claims.TTL = s.Timeout + time.Minute // a request that begins within --timeout ends before its token
	made := s.now()
	token, err := s.mint(claims)
	return func(context.Context) (string, error) {
		if now := s.now(); now.Sub(made) > s.Timeout {
			fresh, err := s.mint(claims)
			if err != nil {
				return "", err
			}
			token, made = fresh, now
		}
		return token, nil
	}, err
}

// mint makes a token with the key of the development service.
func (s *session) mint(claims issuer.Claims) (string, error) {
	// Opening an issuer makes a key where there is none, and no service would know that one.
	if _, err := os.Stat(filepath.Join(s.Data, "issuer.jwk")); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("the key to make a token with: %w", err)
		}
		return "", fmt.Errorf("there is no key in %s to make a token with: start \"matchmaker dev\", or give its folder with --data or a token with --token", s.Data)
	}
	i, err := issuer.Open(s.Data, s.now)
	if err != nil {
		return "", fmt.Errorf("the key to make a token with: %w", err)
	}
	return i.Mint(claims)
}

// note tells a person something on the side.
func (s *session) note(format string, args ...any) {
	text := plain(fmt.Sprintf(format, args...))
	if s.bar != nil {
		s.bar.log("mm: " + text)
		return
	}
	s.tell(text)
}
