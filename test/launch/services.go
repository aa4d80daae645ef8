package launch

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"

	"matchmaker.dev/services/internal/platform/catalog"
)

// Services are the services of the catalog that a server binary has: one of an older version may lack some.
func Services(ctx context.Context, matchmaker string) ([]catalog.Service, error) {
	help, err := exec.CommandContext(ctx, matchmaker, "--help").Output()
	if err != nil {
		return nil, fmt.Errorf("%s --help: %w", matchmaker, err)
	}
	return slices.DeleteFunc(catalog.Services(), func(s catalog.Service) bool {
		return !regexp.MustCompile(`(?m)^ +` + s.Name + ` `).Match(help)
	}), nil
}
