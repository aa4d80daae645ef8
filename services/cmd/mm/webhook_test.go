package main

import (
	"fmt"
	"net/http"
	"testing"

	"matchmaker.dev/services/internal/edge/problem"
)

// webhooks serves a webhook with two dead letters, of which it takes the first alone.
func (s *service) webhooks(mux *http.ServeMux, base string) {
	text := func(body string) http.HandlerFunc {
		return s.require(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }, "developer")
	}
	mux.HandleFunc("GET "+base+"/webhooks", text(`{"webhooks":[{"name":"backend","url":"https://a.example","events":`+
		`["assigned","failed"],"state":"failing","status":503,"reason":"it answered 503","deadLetters":2}]}`))
	mux.HandleFunc("GET "+base+"/webhooks/backend/deadletters", text(`{"deadLetters":[{"id":"1","time":"then","tries":8,`+
		`"reason":"it answered 500","event":{"specversion":"1.0"}},{"id":"2","time":"then","tries":8,"event":{}}]}`))
	mux.HandleFunc("POST "+base+"/webhooks/backend/deadletters/{id}/actions/send", s.require(
		func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"id":%q,"delivered":%v,"status":204,"reason":"it answered 500"}`, r.PathValue("id"),
				r.PathValue("id") == "1")
		}, "developer"))
	mux.HandleFunc("DELETE "+base+"/webhooks/backend/deadletters/{id}", s.require(
		func(w http.ResponseWriter, r *http.Request) {
			if r.PathValue("id") > "2" {
				writeProblem(w, problem.NotFound, "no such letter")
				return
			}
			w.WriteHeader(http.StatusNoContent)
		}, "developer"))
}

func TestWebhooks(t *testing.T) {
	shell, service := newShell(t), newService(t)
	shell.on(service, "webhook").expect(0, "WEBHOOK  STATE    ", "")
	shell.on(service, "webhook", "dead", "backend").expect(0, "ID  GIVEN UP  TRIES  REASON           EVENT\n"+
		"1   then          8  it answered 500  {\"specversion\":\"1.0\"}\n", "")
	shell.on(service, "webhook", "resend", "backend", "1").expect(0, "DELIVERED  STATUS\n1             204\n", "")
	shell.on(service, "webhook", "resend", "backend").expect(1, "DELIVERED  STATUS\n1             204\n",
		"mm: the webhook did not take 2: it answered 500")
	shell.on(service, "webhook", "drop", "backend", "1", "2").expect(0, "deleted  1\ndeleted  2\n", "")
	shell.on(service, "webhook", "drop", "backend", "3", "2").expect(0, "deleted  2\n",
		"mm: there is no dead letter 3: nothing was deleted\n")
	shell.on(service, "webhook", "drop", "other", "1").expect(1, "", "404")
	shell.on(service, "webhook", "drop", "backend").expect(2, "", "<id>")
}
