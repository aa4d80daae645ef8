package state

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// What precedes a queue's name in the hash of queues, as SERVERS in script/include/names.lua.
const servers = "q:"

// UnservedQueues returns the given queues that no config of the project serves.
func (s *Store) UnservedQueues(ctx context.Context, project string, queues []string) ([]string, error) {
	names := make([]string, len(queues))
	for i, queue := range queues {
		names[i] = servers + queue
	}
	served, err := s.readShared(ctx, project, keysOf(project).queues(), names...)
	if err != nil {
		return nil, err
	}
	var unserved []string
	for i, queue := range queues {
		if served[i] == nil {
			unserved = append(unserved, queue)
		}
	}
	return unserved, nil
}

// ServedQueues returns the queues that configs of a project serve, sorted.
func (s *Store) ServedQueues(ctx context.Context, project string) ([]string, error) {
	names, err := s.redis.HKeys(ctx, keysOf(project).queues()).Result()
	if err != nil {
		return nil, unavailable(err)
	}
	queues := idsOf(names, servers)
	slices.Sort(queues)
	return queues, nil
}

// queueField is the encoded field queue of a backfill ticket's record, for a script to put behind a body. It is empty
// without a queue.
func queueField(queue string) []byte {
	if queue == "" {
		return nil
	}
	field, _ := proto.Marshal(&pb.Backfill{Queue: &queue}) // callers have checked that it is UTF-8
	return field
}
