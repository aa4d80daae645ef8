package bus_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/platform/embedded"
)

// follow prints the life of one ticket until that is over. EVENTS.md links to it.
func follow(ctx context.Context, url, project, ticket string) error {
	conn, err := nats.Connect(url)
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	// A pipeline that must miss nothing while it is down has a durable consumer instead.
	consumer, err := js.OrderedConsumer(ctx, "MM_EVENTS", jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{"mm.event." + strings.ReplaceAll(project, ".", "~")},
	})
	if err != nil {
		return err
	}
	messages, err := consumer.Messages()
	if err != nil {
		return err
	}
	defer messages.Stop()
	for {
		msg, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return err
		}
		var batch pb.Events
		if err := proto.Unmarshal(msg.Data(), &batch); err != nil {
			return err
		}
		for _, e := range batch.GetEvents() {
			if !slices.Contains(e.GetTickets(), ticket) {
				continue
			}
			fmt.Printf("%s match=%q reason=%q\n", e.GetKind(), e.GetMatch(), e.GetReason())
			if k := e.GetKind(); k == pb.Event_KIND_CANCELLED || k == pb.Event_KIND_EXPIRED {
				return nil
			}
		}
	}
}

func Example_events() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	log := slog.New(slog.DiscardHandler)
	server, err := embedded.StartNATS(ctx, embedded.NATSOptions{Dir: dir, Log: log})
	if err != nil {
		panic(err)
	}
	defer server.Close()
	b, err := bus.Connect(ctx, bus.Options{Server: bus.Server{URL: server.URL()}, Log: log})
	if err != nil {
		panic(err)
	}
	defer b.Close(ctx)
	if err := b.Prepare(ctx); err != nil {
		panic(err)
	}
	_, _, err = b.PublishEvents(ctx, &pb.Events{Project: "my.game", Events: []*pb.Event{
		{Kind: pb.Event_KIND_CREATED, Tickets: []string{"ada", "bob"}},
		{Kind: pb.Event_KIND_CLAIMED, Tickets: []string{"ada", "bob"}, Match: "match-1"},
		{Kind: pb.Event_KIND_CANCELLED, Tickets: []string{"bob"}, Reason: "claimed"},
		{Kind: pb.Event_KIND_RELEASED, Tickets: []string{"ada"}, Match: "match-1", Reason: "left"},
		{Kind: pb.Event_KIND_CANCELLED, Tickets: []string{"ada"}, Reason: "waiting"},
	}}, bus.EventTail{})
	if err != nil {
		panic(err)
	}
	if err := follow(ctx, server.URL(), "my.game", "ada"); err != nil {
		panic(err)
	}
	// Output:
	// KIND_CREATED match="" reason=""
	// KIND_CLAIMED match="match-1" reason=""
	// KIND_RELEASED match="match-1" reason="left"
	// KIND_CANCELLED match="" reason="waiting"
}
