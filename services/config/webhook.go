package config

import (
	"bytes"
	"slices"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/definition"
)

// oldSecretTime is how long a secret that was replaced signs beside its successor.
const oldSecretTime = 24 * time.Hour

// sealWebhooks encrypts the secrets of webhooks. A webhook whose secret was not sent, or is masked, keeps the stored
// one.
func (s *service) sealWebhooks(project string, p *pb.ProjectSettings, secrets map[string]string,
	there *pb.ProjectSettings) error {
	var errs definition.FieldErrors
	signs := func(w *pb.Webhook) bool { return w.GetUrl() != definition.ByNATS }
	if s.Keys == nil && slices.ContainsFunc(p.GetWebhooks(), signs) {
		errs.Add(definition.BadWebhook, "webhooks",
			"this installation keeps no secrets: it has nothing to encrypt them with (setting hosting-keys)")
		return errs.Err()
	}
	for _, w := range p.GetWebhooks() {
		sent, given := secrets[w.GetName()]
		if !signs(w) {
			if given {
				errs.Add(definition.BadWebhook, definition.Path("webhooks").Member(w.GetName()).Member("secret"),
					"not with %s", definition.ByNATS)
			}
			continue
		}
		var stored *pb.Webhook
		if i := slices.IndexFunc(there.GetWebhooks(), func(o *pb.Webhook) bool {
			return o.GetName() == w.GetName()
		}); i >= 0 {
			stored = there.GetWebhooks()[i]
		}
		if w.Secrets = stored.GetSecrets(); len(w.GetSecrets()) > 0 && (!given || sent == mask) {
			continue
		}
		secret := errs.WebhookSecret(w.GetName(), sent)
		next := &pb.WebhookSecrets{Current: secret}
		if len(stored.GetSecrets()) > 0 {
			// One that cannot be decrypted is forgotten.
			if old, err := s.Keys.OpenWebhook(project, stored); err == nil && bytes.Equal(old.GetCurrent(), secret) {
				continue
			} else if err == nil {
				next.Previous, next.Until = old.GetCurrent(), s.Store.Now().Add(oldSecretTime).UnixMilli()
			}
		}
		var err error
		if w.Secrets, err = s.Keys.SealWebhook(project, w.GetName(), next); err != nil {
			return err
		}
	}
	return errs.Err()
}
