package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/internal/issuer"
)

// Server is a running `matchmaker dev`, with a folder and a free port of its own.
type Server struct {
	*Process
	data   string
	tokens *issuer.Issuer
}

// Dev starts `matchmaker dev` with more arguments.
func Dev(ctx context.Context, errs io.Writer, binary string, args ...string) (*Server, error) {
	data, err := os.MkdirTemp("", "matchmaker-")
	if err != nil {
		return nil, err
	}
	s := &Server{data: data}
	args = append([]string{"dev", "--listen", "127.0.0.1:0", "--data", data, "--log-level", "warn"}, args...)
	if s.Process, err = Start(ctx, errs, binary, args...); err != nil {
		return nil, errors.Join(err, os.RemoveAll(data))
	}
	if s.tokens, err = issuer.Open(data, time.Now); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// Data is the server's folder.
func (s *Server) Data() string { return s.data }

// Stop ends the server and removes its folder.
func (s *Server) Stop() error {
	return errors.Join(s.Process.Stop(), os.RemoveAll(s.data))
}

// Token is one of a kind for a subject of a project; a developer owns the project.
func (s *Server) Token(kind auth.Kind, project, subject string) (string, error) {
	claims := issuer.Claims{Kind: kind, Subject: subject, Project: project}
	if kind == auth.Developer {
		claims.Role = "Owner"
	}
	return s.tokens.Mint(claims)
}

// Client calls the API with a token of its own.
func (s *Server) Client(kind auth.Kind, project, subject string) (*client.Client, error) {
	token, err := s.Token(kind, project, subject)
	if err != nil {
		return nil, err
	}
	return client.New(client.Options{URL: s.URL, Project: project, Token: client.StaticToken(token)})
}

// Upload uploads a match function and returns when it runs.
func (s *Server) Upload(ctx context.Context, studio *client.Client, name, path string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	archive, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = archive.Close() }()
	if err := studio.PutFunction(ctx, name, "", archive); err != nil {
		return err
	}
	for {
		f, err := studio.GetFunction(ctx, name)
		if err != nil {
			return err
		}
		if f.Status.State == client.Running {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the function %s is still %s", name, f.Status.State)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
