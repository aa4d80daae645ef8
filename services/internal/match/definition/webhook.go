package definition

import (
	"cmp"
	"encoding/base64"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// AllEvents stands for all kinds of events of a webhook.
const AllEvents = "*"

// ByNATS is the URL of a webhook whose events are published on the service's own NATS. It has no secret.
const ByNATS = "nats:"

// Bounds of webhooks: how many a project has, and the most bytes of a URL.
const (
	maxWebhooks = 8
	longestURL  = 1024
)

// webhookName is what webhooks are called: the name is a segment of paths.
var webhookName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$`)

// webhooks reads webhooks, in the order of their names. Their secrets go into r.Secrets.
func (r *Reader) webhooks(at Path) []*pb.Webhook {
	var all []*pb.Webhook
	n := r.Keys(at, func(name string, at Path) {
		if !webhookName.MatchString(name) {
			r.Add(BadWebhook, at, "a name has 1 to 32 of a to z, 0 to 9 and -, which is neither first nor last")
		}
		w := &pb.Webhook{Name: name}
		given, ok := r.Object(at,
			Member{"url", func(at Path) { w.Url = r.webhookURL(at) }},
			Member{"events", func(at Path) {
				n := r.Array(at, func(at Path) {
					kind, ok := r.Text(at)
					_, known := pb.Event_Kind_value["KIND_"+strings.ToUpper(kind)]
					if ok && kind != AllEvents && (!known || kind == "unspecified" || kind != strings.ToLower(kind)) {
						r.Add(BadWebhook, at, "a kind of events is expected, such as assigned, or * for all")
					}
					w.Events = append(w.Events, kind)
				})
				if n > len(pb.Event_Kind_value) {
					r.Add(BadWebhook, at, "%d kinds, there are %d", n, len(pb.Event_Kind_value)-1)
				}
			}},
			Member{"secret", func(at Path) {
				if text, ok := r.Text(at); ok {
					r.Secrets[name] = text
				}
			}},
		)
		if ok && !given["url"] {
			r.Add(BadWebhook, at.Member("url"), "required: where the events are sent")
		}
		if ok && (!given["events"] || len(w.Events) == 0) {
			r.Add(BadWebhook, at.Member("events"), "required: the kinds of events, or * for all")
		}
		all = append(all, w)
	})
	if n > maxWebhooks {
		r.Add(BadWebhook, at, "%d webhooks, at most %d are allowed", n, maxWebhooks)
	}
	slices.SortFunc(all, func(a, b *pb.Webhook) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return all
}

// webhookURL reads a URL. Whether its address may be reached shows when it is: a name may have another one each time.
func (r *Reader) webhookURL(at Path) string {
	text, ok := r.Text(at)
	if !ok || text == ByNATS {
		return text
	}
	u, err := url.Parse(text)
	port := 443
	if err == nil && u.Port() != "" {
		port, _ = strconv.Atoi(u.Port())
	}
	switch {
	case len(text) > longestURL:
		r.Add(BadWebhook, at, "the URL has %d bytes, at most %d are allowed", len(text), longestURL)
	case err != nil || u.Hostname() == "" || u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())):
		r.Add(BadWebhook, at, "an https URL is expected, or %s", ByNATS)
	case u.User != nil || u.Fragment != "":
		r.Add(BadWebhook, at, "neither credentials nor a fragment are allowed: receivers verify the signature")
	case port != 443 && port < 1024:
		r.Add(BadWebhook, at, "the port is 443, or from 1024 on")
	}
	return text
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// The beginning of secrets, as Standard Webhooks has it, and their bounds in bytes.
const (
	secretPrefix                  = "whsec_"
	shortestSecret, longestSecret = 24, 64
)

// WebhookSecret decodes a secret that was sent, and notes when it is none.
func (e *FieldErrors) WebhookSecret(name, text string) []byte {
	rest, ok := strings.CutPrefix(text, secretPrefix)
	secret, err := base64.StdEncoding.DecodeString(rest)
	if !ok || err != nil || len(secret) < shortestSecret || len(secret) > longestSecret {
		e.Add(BadWebhook, Path("webhooks").Member(name).Member("secret"),
			"%s and Base64 of %d to %d bytes is expected, such as from: openssl rand -base64 32", secretPrefix,
			shortestSecret, longestSecret)
	}
	return secret
}
