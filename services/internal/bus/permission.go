package bus

import (
	"fmt"
	"slices"
	"strings"

	"matchmaker.dev/services/internal/platform/account"
	"matchmaker.dev/services/internal/platform/catalog"
)

// Rights are the subjects that an account may publish to and subscribe to, as NATS has them: a queue group stands
// behind its subject.
type Rights struct{ Publish, Subscribe []string }

// inboxes is the subject of answers: each account has a subject of its own below it, which no other account may read.
const inboxes = "mm.inbox."

// One runner of the group runnerQueue takes each run, and one allocator of the group allocatorConsumer each match.
const (
	runnerQueue       = "runners"
	allocatorConsumer = "allocators"
)

// What JetStream calls the store of modules: its stream, and the subjects of what is in it.
const (
	moduleStream = "OBJ_" + moduleStore
	moduleChunks = "$O." + moduleStore + ".C."
	moduleInfos  = "$O." + moduleStore + ".M."
)

// makerOf returns the account that makes a stream and gives it its settings. Other accounts wait until it exists.
func makerOf(stream string) string {
	switch stream {
	case matchStream, eventStream:
		return catalog.Director
	}
	return catalog.Registry
}

// streamsOf lists the streams that a service needs. It is ready when they are there.
func streamsOf(service string) []string {
	switch service {
	case catalog.Registry, catalog.Runner:
		return []string{logStream, moduleStream}
	case catalog.Director:
		return []string{matchStream, eventStream}
	case catalog.Allocator:
		return []string{matchStream}
	case account.All:
		return []string{matchStream, logStream, eventStream, moduleStream}
	}
	return nil
}

func api(words ...string) string { return "$JS.API." + strings.Join(words, ".") }

// RightsOf is what an account may do; nothing for one that is not known.
func RightsOf(name string) Rights {
	r := rightsOf(name)
	for _, stream := range streamsOf(name) {
		r.Publish = append(r.Publish, api("STREAM.INFO", stream))
		if makerOf(stream) == name {
			r.Publish = append(r.Publish, api("STREAM.CREATE", stream), api("STREAM.UPDATE", stream))
		}
	}
	slices.Sort(r.Publish)
	slices.Sort(r.Subscribe)
	r.Publish, r.Subscribe = slices.Compact(r.Publish), slices.Compact(r.Subscribe)
	return r
}

func rightsOf(name string) Rights {
	inbox := inboxes + name + ".>"
	switch name {
	case catalog.Ticket:
		return Rights{
			// Runs explain why tickets wait. Studios read the events of their project.
			Publish:   append(readEvents(), tickets, pokes+"*", assigned+"*", runs+"*.*"),
			Subscribe: []string{assigned + "*", events + "*", partsRoot + name + ".*.*", inbox},
		}
	case catalog.Config:
		return Rights{
			// Runs check the settings of configs. Webhooks get events, by NATS, too.
			Publish:   append(readEvents(), pokes+"*", functions+"*", runs+"*.*", cloudEvents+"*"),
			Subscribe: []string{partsRoot + name + ".*.*", inbox},
		}
	case catalog.Registry:
		return Rights{
			Publish: slices.Concat([]string{
				pokes + "*", functions + "*", moduleChunks + "*", moduleInfos + "*", api("STREAM.PURGE", moduleStream),
				api("STREAM.PURGE", logStream),
				// Which modules there are, and the lines of one function.
				api("CONSUMER.CREATE", moduleStream, "*", moduleInfos+">"),
				api("CONSUMER.CREATE", logStream, "*", logs+"*.*"), api("CONSUMER.MSG.NEXT", logStream, "*"),
				api("CONSUMER.DELETE", logStream, "*"),
			}, readModules()),
			Subscribe: []string{runner, inbox},
		}
	case catalog.Runner:
		return Rights{
			Publish:   append(readModules(), runner, partsRoot+"*.*.*", logs+"*.*"),
			Subscribe: []string{runner, functions + "*", runs + "*.* " + runnerQueue, inbox},
		}
	case catalog.Director:
		return Rights{
			Publish: []string{pokes + "*", runs + "*.*", matches + "*", assigned + "*", events + "*",
				api("STREAM.MSG.GET", eventStream), api("STREAM.PURGE", eventStream)},
			Subscribe: []string{tickets, pokes + "*", runner, partsRoot + name + ".*.*", inbox},
		}
	case catalog.Allocator:
		return Rights{
			Publish: []string{
				pokes + "*", assigned + "*",
				matches + "*",
				api("CONSUMER.CREATE", matchStream, allocatorConsumer), api("CONSUMER.INFO", matchStream, allocatorConsumer),
				api("CONSUMER.MSG.NEXT", matchStream, allocatorConsumer), "$JS.ACK." + matchStream + "." + allocatorConsumer + ".>",
			},
			Subscribe: []string{inbox},
		}
	case catalog.Backfill:
		return Rights{
			Publish:   []string{pokes + "*", assigned + "*", runs + "*.*"},
			Subscribe: []string{partsRoot + name + ".*.*", inbox},
		}
	case catalog.Party:
		return Rights{
			Publish:   []string{pokes + "*", assigned + "*", parties + "*"},
			Subscribe: []string{parties + "*", inbox},
		}
	case account.Events:
		return Rights{
			Publish:   append(readEvents(), api("CONSUMER.INFO", eventStream, "*")),
			Subscribe: []string{inbox},
		}
	case account.All:
		r := Rights{Subscribe: []string{inbox, partsRoot + name + ".*.*"}}
		for _, service := range catalog.Names() {
			own := RightsOf(service)
			r.Publish = append(r.Publish, own.Publish...)
			r.Subscribe = append(r.Subscribe, slices.DeleteFunc(own.Subscribe, func(subject string) bool {
				return strings.HasPrefix(subject, inboxes) || strings.HasPrefix(subject, partsRoot)
			})...)
		}
		return r
	case account.Operator:
		return Rights{Publish: []string{">"}, Subscribe: []string{">"}}
	}
	return Rights{}
}

// readEvents is what it takes to read events out of their stream.
func readEvents() []string {
	return []string{
		api("STREAM.INFO", eventStream), api("STREAM.MSG.GET", eventStream),
		api("CONSUMER.CREATE", eventStream, "*", events+"*"), api("CONSUMER.MSG.NEXT", eventStream, "*"),
		api("CONSUMER.DELETE", eventStream, "*"),
	}
}

// readModules is what it takes to read modules out of the object store.
func readModules() []string {
	return []string{
		api("DIRECT.GET", moduleStream, moduleInfos+"*"), api("CONSUMER.CREATE", moduleStream, "*", moduleChunks+"*"),
		api("CONSUMER.DELETE", moduleStream, "*"), "$JS.FC." + moduleStream + ".>",
	}
}

// Users is a block of nats-server's configuration: the user of each account that is named, with its password, written
// as given, and no other users.
func Users(accounts []string, password func(account string) string) string {
	var b strings.Builder
	b.WriteString("authorization {\n  users: [\n")
	for _, name := range accounts {
		r := RightsOf(name)
		if len(r.Subscribe) == 0 {
			continue
		}
		fmt.Fprintf(&b, "    {\n      user: %q, password: %s\n      permissions: {\n", account.User(name), password(name))
		writeSubjects(&b, "publish", r.Publish)
		writeSubjects(&b, "subscribe", r.Subscribe)
		b.WriteString("      }\n    }\n")
	}
	b.WriteString("  ]\n}\n")
	return b.String()
}

// writeSubjects prints what is allowed. An empty list would allow everything, so it denies everything instead.
func writeSubjects(b *strings.Builder, name string, subjects []string) {
	if len(subjects) == 0 {
		fmt.Fprintf(b, "        %s: { deny: \">\" }\n", name)
		return
	}
	fmt.Fprintf(b, "        %s: { allow: [\n", name)
	for _, subject := range subjects {
		fmt.Fprintf(b, "          %q\n", subject)
	}
	b.WriteString("        ] }\n")
}
