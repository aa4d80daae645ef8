package keyring

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// owner says whose keys are sealed.
func owner(project, config string) string { return project + "/" + config }

// SealHosting encrypts the hosting keys of a config, as pb.Hosting has them; nothing when there are none.
func (r *Ring) SealHosting(project, config string, keys *pb.HostingKeys) ([]byte, error) {
	if keys.GetAccess() == "" && keys.GetSecret() == "" {
		return nil, nil
	}
	plain, err := proto.Marshal(keys)
	if err != nil {
		return nil, err
	}
	return r.Seal(plain, owner(project, config))
}

// OpenHosting decrypts the hosting keys of a config, or of a match of it. They are empty when it has none. A nil ring
// opens nothing.
func (r *Ring) OpenHosting(project, config string, h *pb.Hosting) (*pb.HostingKeys, error) {
	keys := new(pb.HostingKeys)
	if len(h.GetKeys()) == 0 {
		return keys, nil
	}
	if r == nil {
		return nil, fmt.Errorf("hosting keys of config %q: this process was given no keys (setting hosting-keys)", config)
	}
	plain, err := r.Open(h.GetKeys(), owner(project, config))
	if err != nil {
		return nil, fmt.Errorf("hosting keys of config %q: %w", config, err)
	}
	if err := proto.Unmarshal(plain, keys); err != nil {
		// Not wrapped: it may quote what it could not parse.
		return nil, fmt.Errorf("hosting keys of config %q: they are no record of this version", config)
	}
	return keys, nil
}
