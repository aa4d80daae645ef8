//go:build linux

package pages

// page is what the test knows of a page beside its text.
type page struct {
	// alone: the page does not say that `make dev` runs, and README's config ranked is there.
	alone bool
	// before is what the page says that the reader has.
	before string
	// serve and interrupt are lines that do not end, by how they begin: one is a server for the blocks that follow, the
	// other gets Ctrl-C. Each does its work when the command that stands beside it succeeds.
	serve, interrupt map[string]string
	// within is where the page says that blocks run, by how they begin.
	within map[string]string
	// games are how many players get each connection, and prints what else is printed.
	games  []int
	prints []string
}

// built keeps make from building anew what is there.
const built = `make() { command make --old-file build "$@"; }` + "\n"

var pages = map[string]page{
	"README.md": {
		alone:  true,
		before: built + `sed -n '/^` + "```ts/,/^```" + `/p' README.md | grep -v '^` + "```" + `' >match.mjs` + "\n",
		serve:  map[string]string{"make dev": "bin/mm function list"},
		games:  []int{2, 2},
		prints: []string{"starting\n", "matched\n"},
	},
	"docs/tutorial.md": {
		// A pair, one who plays a party, eight who play with another one, and a game that is refilled.
		games:  []int{2, 1, 8, 3},
		prints: []string{`"assignment":{"connection":"127.0.0.1:`},
	},
	"docs/api.md": {
		// Ten wait, of whom one has the id and suits neither config.
		before: `bin/mm function put rules bin/functions/rules.zip
sed 's/"everyone"/"new"/; s/"min": 0, "max": 5000/"max": 1000/' ranked.json > casual.json
bin/mm config put casual casual.json
cat > ranked.json <<'END'
{
  "matchmaking": { "targetFunction": { "name": "rules" }, "config": {
    "numbers": ["skill"], "teams": [{ "name": "team", "copies": 2, "size": 5 }],
    "rules": [{ "name": "similar", "spread": "skill", "max": 200 }]
  } },
  "hosting": { "Profile": "default", "Access": "", "Secret": "", "FleetId": "local" }
}
END
bin/mm config put ranked ranked.json
for player in {1..9}; do bin/mm ticket create --player $player --attribute skill=1500; done
id=$(bin/mm ticket create --player zoe --attribute skill=2900 -o json | grep -o '[0-9a-f-]\{36\}')
`,
		within: map[string]string{"  go mod edit": `mkdir ../game; cd ../game; go mod init game.example.com
			printf 'package main\n\nimport _ "matchmaker.dev/pkg/client"\n\nfunc main() {}\n' > main.go`},
	},
	"deploy/README.md": {alone: true, before: built},
	"deploy/hosting/local.md": {
		alone: true,
		serve: map[string]string{"bin/matchmaker dev": "bin/mm function list"},
	},
	"docs/console.md": {
		alone: true,
		serve: map[string]string{"bin/matchmaker console": "curl -sf 127.0.0.1:8090/healthz"},
	},
	"docs/commandline.md": {before: "ln -s \"$PWD\" ~/matchmaker\n"},
	"docs/parties.md":     {games: []int{1}},
	"docs/functions.md":   {before: "cp bin/functions/arena.zip duel.zip\n"}, // a new upload
	"docs/identity.md":    {alone: true},
	"docs/latency.md": {alone: true, serve: map[string]string{
		"bin/matchmaker beacon": "curl -sf 127.0.0.1:7601/readyz",
		"bin/matchmaker dev":    "bin/mm function list",
	}},
	"docs/permissions.md": {alone: true},
	"docs/simulation.md":  {alone: true},
	"docs/production.md": {
		before: "for player in alice bob; do bin/mm token player $player > $player.token; done\n",
		games:  []int{2},
	},
	"docs/recording.md": {
		interrupt: map[string]string{
			"bin/mm record --out evening": "[ -e evening.mmrec ]",
			"bin/mm record --out day":     "[ -e day.mmrec ]",
			"bin/mm record --out roles":   "[ -e roles.players ]",
		},
	},
	"docs/rules-import.md": {alone: true, before: `cd pkg/matchfn/dialects/testdata
cp flexmatch/sample-near.json ../../../../ruleset.json
cp unity/pools.json ../../../../queue.mmq
cp playfab/01-quick.json ../../../../queue.json
cd ../../../..
`},
	"docs/rules.md": {before: `awk '/^` + "```" + `json/ {n++; next} /^` + "```" + `/ {n += n > 0} n == 1' docs/rules.md > rules.json` + "\n"},
	"docs/running.md": {
		alone: true,
		// The page begins where dev ran once.
		before: "interrupt 'bin/mm function list' bin/matchmaker dev\n",
		serve: map[string]string{
			"redis-server":             "redis-cli ping | grep PONG",
			"nats-server":              "true </dev/tcp/127.0.0.1/4222",
			"bin/matchmaker all":       "bin/mm function list",
			"bin/matchmaker ticket":    "curl -sf 127.0.0.1:8081/readyz",
			"bin/matchmaker config":    "curl -sf 127.0.0.1:8082/readyz",
			"bin/matchmaker registry":  "curl -sf 127.0.0.1:8083/readyz",
			"bin/matchmaker backfill":  "curl -sf 127.0.0.1:8084/readyz",
			"bin/matchmaker party":     "curl -sf 127.0.0.1:8088/readyz",
			"bin/matchmaker runner":    "curl -sf 127.0.0.1:8085/readyz",
			"bin/matchmaker director":  "curl -sf 127.0.0.1:8086/readyz",
			"bin/matchmaker allocator": "curl -sf 127.0.0.1:8087/readyz",
		},
	},
	"docs/webhooks.md": {before: `cat > settings.json <<'END'
{"webhooks": {"backend": {"url": "http://127.0.0.1:9999/", "events": ["assigned"],
  "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}}}
END
bin/mm project settings set settings.json
`},
	"functions/README.md": {
		before:    "bin/mm function put duel bin/functions/arena.zip\n", // an upload to go back to
		interrupt: map[string]string{"bin/mm function log duel --follow": "true"},
	},
}

// skip is a block that cannot run here, by how it begins, and why.
type skip struct{ page, begin, reason string }

const (
	tests      = "tests, which take minutes or hours"
	compose    = "make compose runs it: it needs a container engine"
	kubernetes = "make kubernetes runs it: it needs a cluster"
	login      = "a person enters a code at an identity provider"
	natsTool   = "nats is a program of its own"
)

var skipped = []skip{
	{"CONTRIBUTING.md", "go test -race -run 'TestClaim", tests},
	{"CONTRIBUTING.md", "make chaos PART=simulate ", tests},
	{"CONTRIBUTING.md", "make chaos  ", tests},
	{"CONTRIBUTING.md", "make chaos PART=mistakes ", tests},
	{"deploy/README.md", "docker compose", compose},
	{"deploy/README.md", "helm install", kubernetes},
	{"docs/api.md", "bin/mm report", "it compares half an hour with the one before"},
	{"docs/console.md", `bin/matchmaker console --listen :8090 --api-url https://matchmaking.example.com \`, login},
	{"docs/functions.md", "bin/mm function put duel duel.zip --shadow    # it", "it goes on for hours"},
	{"docs/identity.md", "mm context set", login},
	{"docs/performance.md", "make bench ONLY=steady", tests},
	{"docs/performance.md", "make bench PART=neighbours ", tests},
	{"docs/permissions.md", "matchmaker ticket", "the end-to-end tests run each service as its user"},
	{"docs/production.md", "docker build", compose},
	{"docs/production.md", "nats-server ", kubernetes},
	{"docs/production.md", "kubectl create namespace", kubernetes},
	{"docs/production.md", "helm install", kubernetes},
	{"docs/production.md", "promtool ", compose},
	{"docs/production.md", "mm context set", login},
	{"docs/production.md", "docker compose exec", compose},
	{"docs/production.md", "docker compose stop", compose},
	{"docs/production.md", "matchmaker permissions redis", kubernetes},
	{"docs/production.md", "kubectl drain", kubernetes},
	{"docs/production.md", "kubectl delete", kubernetes},
	{"docs/quality.md", "make quality", tests},
	{"docs/releasing.md", "skopeo ", "it needs a registry"},
	{"docs/releasing.md", "   git tag ", "it makes a release"},
	{"docs/webhooks.md", "nats ", natsTool},
	{"functions/README.md", "npm ci", "it needs a registry; test/languages runs it"},
	{"functions/README.md", "rustc ", "not every rustc has the target; test/languages finds one and runs it"},
}
