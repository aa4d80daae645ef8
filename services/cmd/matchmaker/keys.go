package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/platform/keyfile"
	"matchmaker.dev/services/internal/platform/keyring"
	"matchmaker.dev/services/internal/state"
)

// keysCmd makes and changes the keys that the services share.
type keysCmd struct {
	Hosting keysHostingCmd `cmd:"" help:"Put a new key first into the file of --hosting-keys, which is made when there is none."`
	Server  keysSigningCmd `cmd:"" help:"Add a new key to the file of --server-keys, which is made when there is none."`
	Seat    keysSigningCmd `cmd:"" help:"Add a new key to the file of --seat-keys, which is made when there is none."`
	Beacon  keysBeaconCmd  `cmd:"" help:"Put a new key first into a file of --beacon-keys, which is made when there is none."`
	Reseal  keysResealCmd  `cmd:"" help:"Encrypt the hosting keys of all configs, and of what they were before, again that are encrypted with an older key."`
}

type keysHostingCmd struct {
	File string `arg:"" type:"path" help:"The file. It is a secret."`
}

func (keysHostingCmd) Help() string {
	return `To change the key: run this, give the file to all configs and allocators, run 'matchmaker keys reseal', and
when the matches from before have ended, take the old lines out of the file.`
}

func (c *keysHostingCmd) Run(s streams) error { return addKey(s, c.File, "encrypts") }

// addKey puts a new key first into a file, and says what it does from now on.
func addKey(s streams, file, does string) error {
	id, err := keyring.Add(file, time.Now())
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%s: the key %s %s from now on\n", file, id, does)
	return nil
}

type keysBeaconCmd struct {
	File string `arg:"" type:"path" help:"The file. It is a secret."`
}

func (keysBeaconCmd) Help() string {
	return `A region has a file of its own, which its beacon and the services with --regions share. They read it again
every five seconds. To change the key: run this, give the file to the services, then to the beacon, and after
--receipt-age take the old lines out of both.`
}

func (c *keysBeaconCmd) Run(s streams) error { return addKey(s, c.File, "signs") }

// keysSigningCmd adds a key that signs tokens.
type keysSigningCmd struct {
	File string `arg:"" type:"path" help:"The file. It is a secret."`
}

func (keysSigningCmd) Help() string {
	return `A new key is published ten minutes before it signs, and an old one after it signed, so that no token is refused
meanwhile. Give the file to all processes that use it within that time; they read it again by themselves. Keys that are
not needed any more are taken out.`
}

func (c *keysSigningCmd) Run(s streams) error {
	from, err := keyfile.Rotate(c.File, time.Now())
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%s: a new key signs from %s on\n", c.File, from.UTC().Format(time.DateTime+" UTC"))
	return nil
}

type keysResealCmd struct {
	Redis   state.Server     `embed:""`
	Secrets keyring.Settings `embed:""`
}

// Validate is called by kong.
func (c *keysResealCmd) Validate() error {
	if c.Secrets.HostingKeys == "" {
		return errors.New("--hosting-keys: required")
	}
	return nil
}

func (c *keysResealCmd) Run(ctx context.Context, s streams) error {
	ring, err := keyring.Open(c.Secrets.HostingKeys, time.Now)
	if err != nil {
		return fmt.Errorf("--hosting-keys: %w", err)
	}
	store, err := openState(c.Redis)
	if err != nil {
		return err
	}
	done, err := reseal(ctx, store, ring)
	fmt.Fprintf(s.out, "keys of configs and webhooks that were encrypted again: %d\n", done)
	return errors.Join(err, store.Close())
}

// reseal encrypts hosting keys with the first key of the file: of configs first, and then of what configs were before,
// so that one which is replaced meanwhile is among them. It skips what it cannot decrypt, and returns their errors.
func reseal(ctx context.Context, store *state.Store, ring *keyring.Ring) (done int, err error) {
	projects, err := store.Projects(ctx)
	if err != nil {
		return 0, err
	}
	var failed []error
	for _, project := range projects {
		configs, err := store.Configs(ctx, project)
		if err != nil {
			return done, err
		}
		for _, id := range slices.Sorted(maps.Keys(configs)) {
			changed, err := resealConfig(ctx, store, ring, project, id)
			if err != nil {
				failed = append(failed, fmt.Errorf("project %s: %w", project, err))
			}
			if changed {
				done++
			}
		}
		n, err := store.ResealConfigHistory(ctx, project, func(c *pb.Config) (bool, error) {
			return resealKeys(ring, project, c)
		})
		if err != nil {
			failed = append(failed, fmt.Errorf("project %s: before a change: %w", project, err))
		}
		done += n
		n, err = resealWebhooks(ctx, store, ring, project)
		if err != nil {
			failed = append(failed, fmt.Errorf("project %s: %w", project, err))
		}
		done += n
	}
	return done, errors.Join(failed...)
}

// resealWebhooks is repeated while others change the settings. What these were before is not read again.
func resealWebhooks(ctx context.Context, store *state.Store, ring *keyring.Ring, project string) (done int, err error) {
	for {
		p, err := store.Settings(ctx, project)
		if err != nil {
			return 0, err
		}
		done, revision := 0, p.GetRevision()
		for _, w := range p.GetWebhooks() {
			if len(w.GetSecrets()) == 0 || ring.Current(w.GetSecrets()) {
				continue
			}
			secrets, err := ring.OpenWebhook(project, w)
			if err != nil {
				return 0, fmt.Errorf("webhook %q: %w", w.GetName(), err)
			}
			if w.Secrets, err = ring.SealWebhook(project, w.GetName(), secrets); err != nil {
				return 0, err
			}
			done++
		}
		if done == 0 {
			return 0, nil
		}
		if err := store.PutSettings(ctx, project, p, revision); problem.KindOf(err) != problem.Conflict {
			return done, err
		}
	}
}

// resealConfig is repeated while others change the config.
func resealConfig(
	ctx context.Context, store *state.Store, ring *keyring.Ring, project, id string,
) (changed bool, err error) {
	for {
		c, err := store.Config(ctx, project, id)
		if problem.KindOf(err) == problem.NotFound {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if changed, err := resealKeys(ring, project, c); err != nil || !changed {
			return false, err
		}
		if err := store.ResealConfig(ctx, project, c); problem.KindOf(err) != problem.Conflict {
			return err == nil, err
		}
	}
}

// resealKeys encrypts the hosting keys of a config with the first key, unless they are.
func resealKeys(ring *keyring.Ring, project string, c *pb.Config) (changed bool, err error) {
	if len(c.GetHosting().GetKeys()) == 0 || ring.Current(c.GetHosting().GetKeys()) {
		return false, nil
	}
	keys, err := ring.OpenHosting(project, c.GetId(), c.GetHosting())
	if err != nil {
		return false, err
	}
	c.Hosting.Keys, err = ring.SealHosting(project, c.GetId(), keys)
	return err == nil, err
}
