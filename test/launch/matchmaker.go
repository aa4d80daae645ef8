package launch

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/test/workload"
)

// Matchmaker is a running `matchmaker dev` with a folder and a port of its own.
type Matchmaker struct {
	*Server
	data   string
	tokens *issuer.Issuer
}

// Dev starts `matchmaker dev` with additional arguments.
func Dev(ctx context.Context, errs io.Writer, binary string, args ...string) (*Matchmaker, error) {
	data, err := os.MkdirTemp("", "matchmaker-")
	if err != nil {
		return nil, err
	}
	m := &Matchmaker{data: data}
	args = append([]string{"dev", "--listen", "127.0.0.1:0", "--data", data, "--log-level", "warn"}, args...)
	if m.Server, err = Start(ctx, errs, binary, args...); err != nil {
		return nil, errors.Join(err, os.RemoveAll(data))
	}
	if m.tokens, err = issuer.Open(data, time.Now); err != nil {
		return nil, errors.Join(err, m.Stop())
	}
	return m, nil
}

// Stop ends the server and removes its folder.
func (m *Matchmaker) Stop() error {
	return errors.Join(m.Server.Stop(), os.RemoveAll(m.data))
}

// Folder is where it keeps its data.
func (m *Matchmaker) Folder() string { return m.data }

// Token mints a token of a kind for a subject of a project. A developer is the project's owner, a service acts for
// players.
func (m *Matchmaker) Token(kind auth.Kind, project, subject string) (string, error) {
	claims := issuer.Claims{Kind: kind, Subject: subject, Project: project}
	if kind == auth.Developer {
		claims.Role = "Owner"
	}
	if kind == auth.Service {
		claims.Scope = auth.ScopeAct
	}
	return m.tokens.Mint(claims)
}

// Client returns a client of the API with a token of its own.
func (m *Matchmaker) Client(kind auth.Kind, project, subject string) (*client.Client, error) {
	token, err := m.Token(kind, project, subject)
	if err != nil {
		return nil, err
	}
	return client.New(client.Options{URL: m.URL, Project: project, Token: client.StaticToken(token)})
}

// Upload uploads a match function from a file and returns when it runs.
func (m *Matchmaker) Upload(ctx context.Context, studio *client.Client, name, path string) error {
	archive, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = archive.Close() }()
	return workload.Start(ctx, studio, name, archive)
}

// Role mints a token of a developer with a role, which is good for a time.
func (m *Matchmaker) Role(project, role, subject string, good time.Duration) (string, error) {
	return m.tokens.Mint(issuer.Claims{Kind: auth.Developer, Project: project, Role: role, Subject: subject, TTL: good})
}
