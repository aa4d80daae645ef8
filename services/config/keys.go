package config

import (
	"context"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/match/definition"
)

// mask stands for a key in the answers to GET and PUT. In a PUT it stands for the stored key, so that a config can be
// read, changed and put back. No hosting system has such a key.
const mask = "********"

// needsStored reports whether what becomes of keys depends on the stored ones.
func needsStored(keys *definition.HostingKeys) bool {
	return keys != nil && (keys.Access == mask || keys.Secret == mask || !keys.SecretGiven)
}

// seal encrypts the keys of a request into a config. Keys that it keeps come from the stored config, there.
func (s *service) seal(project string, c *pb.Config, sent *definition.HostingKeys, there *pb.Config) error {
	if sent == nil {
		return nil
	}
	keys, err := s.complete(project, sent, there)
	if err != nil || keys.GetAccess() == "" && keys.GetSecret() == "" {
		return err
	}
	if s.Keys == nil {
		var errs definition.FieldErrors
		errs.Add(definition.BadHosting, "hosting",
			"this installation keeps no hosting keys: it has nothing to encrypt them with (setting hosting-keys)")
		return errs.Err()
	}
	c.Hosting.Keys, err = s.Keys.SealHosting(project, c.GetId(), keys)
	return err
}

// complete replaces masks by the stored keys. A secret that was not sent is the stored one if its access key stays: a
// request that removes the secret sends an empty one.
func (s *service) complete(project string, sent *definition.HostingKeys, there *pb.Config) (*pb.HostingKeys, error) {
	keys := &pb.HostingKeys{Access: sent.Access, Secret: sent.Secret}
	if !needsStored(sent) || s.Keys == nil && len(there.GetHosting().GetKeys()) == 0 {
		return keys, nil
	}
	old, err := s.Keys.OpenHosting(project, there.GetId(), there.GetHosting())
	if err != nil {
		return nil, problem.Wrap(problem.Unavailable, err,
			"hosting: the keys that the config has cannot be decrypted: give the keys themselves, an empty Secret for none")
	}
	if !sent.SecretGiven && (sent.Access == mask || sent.Access == old.GetAccess()) {
		keys.Secret = old.GetSecret()
	}
	var errs definition.FieldErrors
	for _, k := range []struct {
		name string
		key  *string
		old  string
	}{{"Access", &keys.Access, old.GetAccess()}, {"Secret", &keys.Secret, old.GetSecret()}} {
		if *k.key != mask {
			continue
		}
		if k.old == "" {
			errs.Add(definition.BadHosting, definition.Path("hosting").Member(k.name),
				"%q stands for the key that the config has, and it has none: give the key itself", mask)
		}
		*k.key = k.old
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
