package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/response"
)

// gapNumber is the number of a gap before a message.
const gapNumber = 1<<16 - 1

// eventID is the id of the nth event of a message. Two events have different ones, and each the same whenever it is
// sent. They are in the order of the events.
func eventID(e *pb.Event, n int) string {
	return fmt.Sprintf("%012x%012x%04x", e.GetTime(), e.GetPosition(), n)
}

// cloudEvent is an event as CloudEvents 1.0 has it in JSON.
type cloudEvent struct {
	SpecVersion     string         `json:"specversion"`
	ID              string         `json:"id"`
	Source          string         `json:"source"`
	Type            string         `json:"type"`
	Subject         string         `json:"subject,omitzero"`
	Time            string         `json:"time"`
	DataContentType string         `json:"datacontenttype"`
	Data            jsontext.Value `json:"data"`
}

// cloudEvent returns what is sent of an event. Its subject is the match, or the first ticket.
func (s *Service) cloudEvent(project string, it *item) ([]byte, error) {
	data, err := s.Encode(fmt.Sprintf("%d.%d", it.at.message, it.at.events+1), it.event)
	if err != nil {
		return nil, err
	}
	return json.Marshal(&cloudEvent{SpecVersion: "1.0", ID: it.id, Source: "/" + project + "/matchmaking",
		Type: "dev.matchmaker." + response.EventKind(it.event.GetKind()), Subject: it.lane,
		Time: response.Time(time.UnixMilli(it.event.GetTime())), DataContentType: "application/json", Data: data})
}

// signed returns the headers of a body, as Standard Webhooks has them.
func signed(s *pb.WebhookSecrets, id string, body []byte, now time.Time) http.Header {
	at := strconv.FormatInt(now.Unix(), 10)
	signatures := sign(s.GetCurrent(), id, at, body)
	if len(s.GetPrevious()) > 0 && now.UnixMilli() < s.GetUntil() {
		signatures += " " + sign(s.GetPrevious(), id, at, body)
	}
	return http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {at}, "Webhook-Signature": {signatures}}
}

func sign(secret []byte, id, at string, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	_, _ = fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
