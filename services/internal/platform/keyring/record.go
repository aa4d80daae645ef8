package keyring

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// owner says whose keys are sealed.
func owner(project, config string) string { return project + "/" + config }

// webhookOwner says whose secrets are sealed. No project has a space in its name.
func webhookOwner(project, name string) string { return "webhook " + owner(project, name) }

// SealHosting encrypts the hosting keys of a config, as pb.Hosting has them; nothing when there are none.
func (r *Ring) SealHosting(project, config string, keys *pb.HostingKeys) ([]byte, error) {
	if keys.GetAccess() == "" && keys.GetSecret() == "" {
		return nil, nil
	}
	return r.sealRecord(keys, owner(project, config))
}

// OpenHosting decrypts the hosting keys of a config, or of a match of it. They are empty when it has none. A nil ring
// opens nothing.
func (r *Ring) OpenHosting(project, config string, h *pb.Hosting) (*pb.HostingKeys, error) {
	keys := new(pb.HostingKeys)
	if len(h.GetKeys()) == 0 {
		return keys, nil
	}
	if err := r.openRecord(h.GetKeys(), owner(project, config), keys); err != nil {
		return nil, fmt.Errorf("hosting keys of config %q: %w", config, err)
	}
	return keys, nil
}

// SealWebhook encrypts the secrets of a webhook, as pb.Webhook has them.
func (r *Ring) SealWebhook(project, name string, s *pb.WebhookSecrets) ([]byte, error) {
	return r.sealRecord(s, webhookOwner(project, name))
}

// OpenWebhook decrypts the secrets of a webhook. A nil ring opens nothing.
func (r *Ring) OpenWebhook(project string, w *pb.Webhook) (*pb.WebhookSecrets, error) {
	s := new(pb.WebhookSecrets)
	if err := r.openRecord(w.GetSecrets(), webhookOwner(project, w.GetName()), s); err != nil {
		return nil, err
	}
	return s, nil
}

func (r *Ring) sealRecord(record proto.Message, about string) ([]byte, error) {
	plain, err := proto.Marshal(record)
	if err != nil {
		return nil, err
	}
	return r.Seal(plain, about)
}

func (r *Ring) openRecord(sealed []byte, about string, into proto.Message) error {
	if r == nil {
		return errors.New("this process was given no keys (setting hosting-keys)")
	}
	plain, err := r.Open(sealed, about)
	if err == nil && proto.Unmarshal(plain, into) != nil { // its error may quote what it could not parse
		err = errors.New("they are no record of this version")
	}
	return err
}
