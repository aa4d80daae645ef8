package state

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// nodeOf returns the server that has a key, and its address. Without a cluster it is the client itself, and has no
// address.
func nodeOf(
	ctx context.Context, client redis.UniversalClient, key string,
) (node redis.Cmdable, addr string, err error) {
	cluster, is := client.(*redis.ClusterClient)
	if !is {
		return client, "", nil
	}
	server, err := cluster.MasterForKey(ctx, key)
	if err != nil {
		return nil, "", err
	}
	return server, server.Options().Addr, nil
}

// eachNode calls do with each server that takes writes, as nodeOf returns them: servers of a cluster at the same time.
func eachNode(
	ctx context.Context, client redis.UniversalClient,
	do func(ctx context.Context, node redis.Cmdable, addr string) error,
) error {
	cluster, is := client.(*redis.ClusterClient)
	if !is {
		return do(ctx, client, "")
	}
	return cluster.ForEachMaster(ctx, func(ctx context.Context, server *redis.Client) error {
		return do(ctx, server, server.Options().Addr)
	})
}
