package bus_test

import (
	"context"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"matchmaker.dev/services/internal/edge/problem"
)

// A CloudEvent is published when a stream has it, and not before. The same id of a project comes once.
func TestCloudEvents(t *testing.T) {
	url := server(t)
	b := connect(t, url)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	publish := func() error { return b.PublishCloudEvent(ctx, "my.game", "1", []byte("{}")) }
	if err := publish(); problem.KindOf(err) != problem.Unavailable {
		t.Errorf("without a stream: %v", err)
	}
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "C", Subjects: []string{"mm.cloudevent.*"}})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := publish(); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.PublishCloudEvent(ctx, "other", "1", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.GetLastMsgForSubject(ctx, "mm.cloudevent.other"); err != nil {
		t.Error("the same id of another project:", err)
	}
	got, err := stream.GetLastMsgForSubject(ctx, "mm.cloudevent.my~game")
	if err != nil || got.Sequence != 1 || string(got.Data) != "{}" ||
		got.Header.Get("Content-Type") != "application/cloudevents+json" {
		t.Errorf("%+v, %v", got, err)
	}
}
