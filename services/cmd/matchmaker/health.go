package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// healthCmd asks a service whether it is ready, for images without a shell.
type healthCmd struct {
	URL  string        `arg:"" optional:"" help:"What is asked, at /readyz without a path: ready with 200, and anything else is not." default:"http://127.0.0.1:8080"`
	Wait time.Duration `help:"How long the answer may take." default:"3s" bounds:">0" group:"process"`
}

// Validate is called by kong.
func (c *healthCmd) Validate() error {
	if u, err := url.Parse(c.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("<url>: %q is no URL such as http://127.0.0.1:8080", c.URL)
	}
	return nil
}

func (c *healthCmd) Run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.Wait)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL, http.NoBody)
	if err != nil {
		return err
	}
	if path := request.URL.Path; path == "" || path == "/" {
		request.URL.Path = "/readyz"
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
		return fmt.Errorf("%s: %s", answer.Status, strings.TrimSpace(string(text)))
	}
	return nil
}
