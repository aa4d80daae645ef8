package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"matchmaker.dev/services/test/launch"
)

// The ways in which Redis keeps the state.
const (
	// single is one server.
	single = "single"
	// sentinel is a primary with a replica, and three Sentinels.
	sentinel = "sentinel"
	// cluster is three primaries with a replica each.
	cluster = "cluster"
)

// downTime is how long a server must be silent until another one takes its place.
const downTime = 2000

// stores are the servers of Redis.
type stores struct {
	kind    string
	servers []*redis
	pairs   []*pair
	// sentinels choose the primary.
	sentinels []*redis
	// disk is the file system of the only server's files; nil when it has none of its own.
	disk *disk
	// addresses are the addresses of a cluster's servers, and the ports where they speak to each other.
	addresses []string
	// url is where services find Redis; "" where each has a proxy.
	url string

	mu sync.Mutex
	// homes are the pairs that have the keys of a project, by numbers. While they move, two have.
	homes map[string][]int
}

// masterName is what Sentinels call the primary.
const masterName = "games"

// redisBinary is the program of a Redis.
func redisBinary() (string, error) {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("a redis-server or valkey-server is needed")
}

// newStores adds the servers of Redis to a system. They write every change to the disk before they answer, so that a
// kill loses no answered change. A disk that can be full is an exception: Redis ends when it cannot write at once.
func (s *system) newStores(log logFunc) (err error) {
	s.stores = &stores{kind: s.state, homes: map[string][]int{}}
	binary, err := redisBinary()
	if err != nil {
		return err
	}
	switch s.state {
	case sentinel:
		return s.withSentinels(binary)
	case cluster:
		return s.withCluster(binary)
	}
	dir := filepath.Join(s.dir, "redis")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	often := "always"
	if s.disk {
		if s.stores.disk, err = mount(dir); err != nil {
			log("NO DISK IS FILLED: a file system of its own cannot be mounted: %v", err)
		} else {
			often = "everysec"
		}
	}
	socket := filepath.Join(s.dir, "redis.socket")
	u := s.add("redis", func() *exec.Cmd {
		return exec.Command(binary, "--port", "0", "--unixsocket", socket, "--dir", dir, "--save", "",
			"--appendonly", "yes", "--appendfsync", often, "--auto-aof-rewrite-min-size", "16mb",
			"--maxmemory-policy", "noeviction", "--daemonize", "no")
	}, readyAt(socket))
	s.stores.servers = []*redis{{unit: u, network: "unix", dir: dir}}
	return nil
}

// readyAt finds in the output of a Redis that it listens at an address.
func readyAt(address string) func(line string) string {
	return func(line string) string {
		if strings.Contains(strings.ToLower(line), "ready to accept connections") || strings.Contains(line, "mode=sentinel") {
			return address
		}
		return ""
	}
}

// server adds a server of Redis with settings of its own in a file, which it may write again.
func (s *system) server(binary, name string, settings ...string) (r *redis, port string, err error) {
	address, err := launch.Vacant(context.Background())
	if err != nil {
		return nil, "", err
	}
	_, port, _ = strings.Cut(address, ":")
	r = &redis{network: "tcp", dir: filepath.Join(s.dir, name), config: filepath.Join(s.dir, name, "redis.conf")}
	if err := os.MkdirAll(r.dir, 0o750); err != nil {
		return nil, "", err
	}
	text := append([]string{"port " + port, "bind 127.0.0.1", "dir " + r.dir, "daemonize no"}, settings...)
	if err := os.WriteFile(r.config, []byte(strings.Join(text, "\n")+"\n"), 0o600); err != nil {
		return nil, "", err
	}
	more := []string{r.config}
	if strings.HasPrefix(name, sentinel) {
		more = append(more, "--sentinel")
	}
	r.unit = s.add(name, func() *exec.Cmd { return exec.Command(binary, more...) }, readyAt("127.0.0.1:"+port))
	return r, port, nil
}

// durable are settings of servers that keep the state. A replica logs in as a user of its own, which can be locked out.
func durable(more ...string) []string {
	return append([]string{
		`save ""`, "appendonly yes", "appendfsync always", "maxmemory-policy noeviction", "repl-diskless-sync-delay 0",
		"user replica on >secret +psync +replconf +ping", "masteruser replica", "masterauth secret",
	}, more...)
}

// withSentinels adds a primary, its replica and the Sentinels.
func (s *system) withSentinels(binary string) error {
	first, port, err := s.server(binary, "redis-1", durable()...)
	if err != nil {
		return err
	}
	second, _, err := s.server(binary, "redis-2", durable("replicaof 127.0.0.1 "+port)...)
	if err != nil {
		return err
	}
	s.stores.servers = []*redis{first, second}
	s.stores.pairs = []*pair{{name: "pair-1", servers: [2]*redis{first, second}}}
	var addresses []string
	for n := range 3 {
		one, at, err := s.server(binary, fmt.Sprintf("%s-%d", sentinel, n+1),
			fmt.Sprintf("sentinel monitor %s 127.0.0.1 %s 2", masterName, port),
			fmt.Sprintf("sentinel down-after-milliseconds %s %d", masterName, downTime),
			fmt.Sprintf("sentinel failover-timeout %s %d", masterName, 3*downTime))
		if err != nil {
			return err
		}
		s.stores.sentinels, addresses = append(s.stores.sentinels, one), append(addresses, "127.0.0.1:"+at)
	}
	s.stores.url = "redis-sentinel://" + addresses[0] + "?master_name=" + masterName + "&addr=" +
		strings.Join(addresses[1:], "&addr=")
	return nil
}

// primaries is how many of them a cluster has.
const primaries = 3

// withCluster adds the servers of a cluster.
func (s *system) withCluster(binary string) error {
	var addresses []string
	for n := range 2 * primaries {
		bus, err := launch.Vacant(context.Background())
		if err != nil {
			return err
		}
		_, bus, _ = strings.Cut(bus, ":")
		one, port, err := s.server(binary, fmt.Sprintf("redis-%d", n+1), durable("cluster-enabled yes", "cluster-port "+bus,
			fmt.Sprintf("cluster-node-timeout %d", downTime))...)
		if err != nil {
			return err
		}
		s.stores.servers, addresses = append(s.stores.servers, one), append(addresses, "127.0.0.1:"+port+" "+bus)
	}
	for n := range primaries {
		s.stores.pairs = append(s.stores.pairs, &pair{name: fmt.Sprintf("pair-%d", n+1),
			servers: [2]*redis{s.stores.servers[n], s.stores.servers[n+primaries]}})
	}
	var plain []string
	for _, a := range addresses {
		where, _, _ := strings.Cut(a, " ")
		plain = append(plain, where)
	}
	s.stores.url = "redis-cluster://" + plain[0] + "?addr=" + strings.Join(plain[1:], "&addr=")
	s.stores.addresses = addresses
	return nil
}

// form makes a cluster, or waits for Sentinels, of servers that were started.
func (st *stores) form(ctx context.Context) error {
	for _, r := range slices.Concat(st.servers, st.sentinels) {
		if err := answers(ctx, r); err != nil {
			return fmt.Errorf("%s does not answer: %w", r.name, err)
		}
	}
	if st.kind == cluster {
		if err := st.formCluster(ctx); err != nil {
			return err
		}
	}
	for _, one := range st.sentinels {
		err := until(ctx, func() bool {
			replicas, err := one.ask(ctx, "SENTINEL", "REPLICAS", masterName)
			if list, ok := replicas.([]any); err != nil || !ok || len(list) != 1 {
				return false
			}
			others, err := one.ask(ctx, "SENTINEL", "SENTINELS", masterName)
			list, ok := others.([]any)
			return err == nil && ok && len(list) == len(st.sentinels)-1
		})
		if err != nil {
			return fmt.Errorf("the Sentinels do not know each other: %w", err)
		}
	}
	for _, p := range st.pairs {
		if _, _, err := p.whole(ctx); err != nil {
			return err
		}
	}
	return nil
}

const slots = 16384

// formCluster gives the slots to the first servers, and makes the others their replicas.
func (st *stores) formCluster(ctx context.Context) error {
	var failed error
	must := func(r *redis, words ...string) {
		if _, err := r.ask(ctx, words...); err != nil {
			failed = errors.Join(failed, err)
		}
	}
	for n, r := range st.servers {
		if n < primaries {
			must(r, "CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(n*slots/primaries), strconv.Itoa((n+1)*slots/primaries-1))
		}
		must(r, "CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(n+1))
		for _, other := range st.addresses[:n] {
			where, bus, _ := strings.Cut(other, " ")
			host, port, _ := net.SplitHostPort(where)
			must(r, "CLUSTER", "MEET", host, port, bus)
		}
	}
	for _, p := range st.pairs {
		id, err := p.servers[0].ask(ctx, "CLUSTER", "MYID")
		if failed = errors.Join(failed, err); failed != nil {
			return failed
		}
		name, _ := id.(string)
		if err := until(ctx, func() bool {
			_, err := p.servers[1].ask(ctx, "CLUSTER", "REPLICATE", name)
			return err == nil
		}); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return until(ctx, func() bool {
		for _, r := range st.servers {
			answer, err := r.ask(ctx, "CLUSTER", "INFO")
			text, _ := answer.(string)
			if err != nil || !strings.Contains(text, "cluster_state:ok") ||
				!strings.Contains(text, fmt.Sprint("cluster_known_nodes:", len(st.servers))) {
				return false
			}
		}
		return true
	})
}

// locate finds which pairs have the projects.
func (st *stores) locate(ctx context.Context, projects []string) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, project := range projects {
		st.homes[project] = []int{0}
		if st.kind != cluster {
			continue
		}
		slot, err := st.slot(ctx, project)
		if err != nil {
			return err
		}
		for n := range primaries {
			if int(slot) >= n*slots/primaries {
				st.homes[project] = []int{n}
			}
		}
	}
	return nil
}

// slot is the slot of a project's keys.
func (st *stores) slot(ctx context.Context, project string) (int64, error) {
	answer, err := st.servers[0].ask(ctx, "CLUSTER", "KEYSLOT", "{"+project+"}")
	slot, _ := answer.(int64)
	return slot, err
}

// of lists the projects of a pair.
func (st *stores) of(pair int) (projects []string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for project, homes := range st.homes {
		for _, home := range homes {
			if home == pair {
				projects = append(projects, project)
			}
		}
	}
	return projects
}

// redisOf is how a service reaches Redis.
func (s *system) redisOf(ctx context.Context, name string) (url string, err error) {
	if s.stores.url != "" {
		return s.stores.url, nil
	}
	only := s.stores.servers[0]
	at, err := s.proxy(ctx, name+">redis", only.dial(func(where string) (network, address string) {
		return only.network, where
	}))
	return "redis://" + at, err
}

// close frees the disk.
func (st *stores) close() error {
	if st == nil || st.disk == nil {
		return nil
	}
	return st.disk.unmount()
}

// processes lists the units of all servers and Sentinels.
func (st *stores) processes() (all []string) {
	for _, r := range slices.Concat(st.servers, st.sentinels) {
		all = append(all, r.name)
	}
	return all
}

// storeNames lists what keeps the state, as targets of faults are called.
func storeNames(state string) (all []string) {
	var servers, pairs int
	switch state {
	case sentinel:
		servers, pairs = 2, 1
	case cluster:
		servers, pairs, all = 2*primaries, primaries, []string{slotsTarget}
	default:
		return []string{"redis"}
	}
	for n := range servers {
		all = append(all, fmt.Sprintf("redis-%d", n+1))
	}
	for n := range pairs {
		all = append(all, fmt.Sprintf("pair-%d", n+1))
	}
	return all
}
