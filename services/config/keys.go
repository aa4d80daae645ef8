package config

import (
	"context"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/definition"
	"matchmaker.dev/services/internal/problem"
)

// mask stands for a key in the answers to GET and PUT. In a PUT it stands for the stored key, so that a config can be
// read, changed and put back. No hosting system has such a key.
const mask = "********"

// isMasked tells whether a stored key is to be kept.
func isMasked(keys *pb.HostingKeys) bool { return keys.GetAccess() == mask || keys.GetSecret() == mask }

// seal encrypts the keys of a request into a config. Masked keys are taken from the stored config, there.
func (s *service) seal(project string, c *pb.Config, keys *pb.HostingKeys, there *pb.Config) error {
	if keys.GetAccess() == "" && keys.GetSecret() == "" {
		return nil
	}
	if s.Keys == nil {
		var errs definition.FieldErrors
		errs.Add(definition.BadHosting, "hosting",
			"this installation keeps no hosting keys: it has nothing to encrypt them with (setting hosting-keys)")
		return errs.Err()
	}
	keys, err := s.unmask(project, keys, there)
	if err != nil {
		return err
	}
	c.Hosting.Keys, err = s.Keys.SealHosting(project, c.GetId(), keys)
	return err
}

// unmask replaces masks by the stored keys.
func (s *service) unmask(project string, keys *pb.HostingKeys, there *pb.Config) (*pb.HostingKeys, error) {
	if !isMasked(keys) {
		return keys, nil
	}
	old, err := s.Keys.OpenHosting(project, there.GetId(), there.GetHosting())
	if err != nil {
		return nil, problem.Wrap(problem.Unavailable, err,
			"hosting: what %q stands for cannot be decrypted: give the keys themselves", mask)
	}
	var errs definition.FieldErrors
	keys = proto.CloneOf(keys)
	for _, k := range []struct {
		name string
		sent *string
		old  string
	}{{"Access", &keys.Access, old.GetAccess()}, {"Secret", &keys.Secret, old.GetSecret()}} {
		if *k.sent != mask {
			continue
		}
		if k.old == "" {
			errs.Add(definition.BadHosting, definition.Path("hosting").Member(k.name),
				"%q stands for the key that the config has, and it has none: give the key itself", mask)
		}
		*k.sent = k.old
	}
	return keys, errs.Err()
}

// show is the keys as answers have them: the access key, by which people recognize it, and a mask for the secret. Both
// are masked if they cannot be decrypted.
func (s *service) show(ctx context.Context, project string, c *pb.Config) *pb.HostingKeys {
	keys, err := s.Keys.OpenHosting(project, c.GetId(), c.GetHosting())
	if err != nil {
		s.Log.WarnContext(ctx, "hosting keys of a config cannot be decrypted", "project", project, "config", c.GetId(),
			"error", err)
		return &pb.HostingKeys{Access: mask, Secret: mask}
	}
	if keys.GetSecret() != "" {
		keys.Secret = mask
	}
	return keys
}
