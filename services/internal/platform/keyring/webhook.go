package keyring

import (
	"errors"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// webhookOwner says whose secrets are sealed. No project has a space in its name.
func webhookOwner(project, name string) string { return "webhook " + project + "/" + name }

// SealWebhook encrypts the secrets of a webhook, as pb.Webhook has them.
func (r *Ring) SealWebhook(project, name string, s *pb.WebhookSecrets) ([]byte, error) {
	plain, err := proto.Marshal(s)
	if err != nil {
		return nil, err
	}
	return r.Seal(plain, webhookOwner(project, name))
}

// OpenWebhook decrypts the secrets of a webhook. A nil ring opens nothing.
func (r *Ring) OpenWebhook(project string, w *pb.Webhook) (*pb.WebhookSecrets, error) {
	if r == nil {
		return nil, errors.New("this process was given no keys (setting hosting-keys)")
	}
	plain, err := r.Open(w.GetSecrets(), webhookOwner(project, w.GetName()))
	if err != nil {
		return nil, err
	}
	s := new(pb.WebhookSecrets)
	if proto.Unmarshal(plain, s) != nil { // its error may quote what it could not parse
		return nil, errors.New("they are no record of this version")
	}
	return s, nil
}
