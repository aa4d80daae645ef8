# What one does with this repository. `make help` lists it.
SHELL := /bin/bash
.DEFAULT_GOAL := help

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
MODULES := proto pkg/client pkg/matchfn functions services services/test/quality deploy
# Not in go.work: what they need is large, and nothing that ships has it.
APART   := deploy/kubernetes deploy/release
TOOLS   := $(CURDIR)/bin/tools

# Pinned tools, built from source by the Go toolchain.
BUF           := github.com/bufbuild/buf/cmd/buf@v1.73.0
PROTOC_GEN_GO := google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
GOLANGCI_LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
NATS          := github.com/nats-io/nats-server/v2@v2.12.15
CADDY         := github.com/caddyserver/caddy/v2/cmd/caddy@v2.11.9

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

.PHONY: build
build: bin/matchmaker bin/mm bin/demo functions ## Build the binaries and the ready-made match functions into bin/

.PHONY: bin/matchmaker bin/mm bin/demo bin/bench bin/neighbours
bin/matchmaker bin/mm:
	go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o $@ matchmaker.dev/services/cmd/$(@F)
bin/demo bin/bench bin/neighbours:
	go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o $@ matchmaker.dev/services/test/$(@F)

.PHONY: bin/pair.wasm
bin/pair.wasm:
	GOOS=wasip1 GOARCH=wasm go build -trimpath -buildmode=c-shared -ldflags "-s -w" -o $@ matchmaker.dev/services/test/bench/pair

.PHONY: functions
functions: ## Build the ready-made match functions into bin/functions/
	cd functions && go run matchmaker.dev/pkg/matchfn/pack -o ../bin/functions/duel.zip duel
	cd functions && go run matchmaker.dev/pkg/matchfn/pack -o ../bin/functions/arena.zip arena
	cd functions && go run matchmaker.dev/pkg/matchfn/pack -o ../bin/functions/rules.zip rules

.PHONY: demo
demo: build ## Watch 200 players get matched, and games fill up again, on real parts, in under a minute
	bin/demo --matchmaker bin/matchmaker --function bin/functions/duel.zip --arena bin/functions/arena.zip

.PHONY: dev
dev: build ## Run everything on http://127.0.0.1:8080 for your own clients; DEV='--listen 127.0.0.1:9000' has its flags
	bin/matchmaker dev $(DEV)

.PHONY: test
test: redis compilers generators ## Run all tests
	go test -race -p 2 -timeout 15m $(foreach m,proto pkg/client pkg/matchfn functions,./$(m)/...) \
		$$(go list ./services/... | grep -v /services/test/)
	go test -race -p 1 -timeout 15m $$(go list ./services/test/... | grep -v /e2e$$) # each starts systems of many processes
	go test -timeout 25m ./services/test/e2e -args -race-dev
	go test ./deploy/... ./services/test/quality/...
	go test -count=1 -run '^TestPromisesAreKept$$' ./services/test/simulate -args -faults 10000

# Apart from `make test`: the gateway's binary alone takes minutes to build from source.
.PHONY: gateway
gateway: redis $(TOOLS)/caddy ## Try the contract through the gateway of docker-compose.yml, which is restarted, and the services behind it
	go test -count=1 -timeout 9m -run '^TestGateway$$' ./services/test/e2e -args -caddy $(TOOLS)/caddy

.PHONY: image
image: redis ## Build what is in the image as the Dockerfile says, and run it as a container does; as root
	go test -count=1 -run '^TestImage$$' ./deploy -args -image $(CURDIR)/bin/image
	go test -count=1 -run '^TestImage$$' ./services/test/e2e -args -image $(CURDIR)/bin/image

# Apart from `make test`: the first build of a control plane takes 13 minutes of processor time and 3 GB of Go's cache.
KUBERNETES   := $(CURDIR)/bin/kubernetes
CONTROLPLANE := $(addprefix $(KUBERNETES)/,etcd kube-apiserver kube-controller-manager kube-scheduler kwok helm)
RELEASED     := -X k8s.io/component-base/version
FROM         ?= HEAD^
.PHONY: kubernetes
kubernetes: $(CONTROLPLANE) ## Try the chart, its upgrade FROM (HEAD^), all manifests and the Agones provider on a real control plane; as root
	go test -c -o $(KUBERNETES)/agones.test ./services/allocator/agones
	cd deploy/kubernetes && GOWORK=off go test -count=1 -v -timeout 40m . -args -binaries $(KUBERNETES) -from '$(FROM)'

NODE := $(addprefix $(KUBERNETES)/,kubelet kube-proxy kubectl)
.PHONY: node
node: $(filter-out %/kwok,$(CONTROLPLANE)) $(NODE) $(addprefix $(KUBERNETES)/,coredns kube-router nats-server) bin/matchmaker bin/mm functions ## Run the chart's pods on two real nodes: kubelet, containerd, kube-router; as root
	@./.ci/install-docker
	cd deploy/kubernetes && GOWORK=off go test -count=1 -v -timeout 20m -run '^TestNode$$' . -args \
		-binaries $(KUBERNETES) -node $(CURDIR)/bin

$(KUBERNETES)/nats-server: MODULE := $(NATS)
$(KUBERNETES)/kube-router: MODULE := github.com/cloudnativelabs/kube-router/v2/cmd/kube-router@v2.1.0
$(KUBERNETES)/coredns: MODULE := github.com/coredns/coredns@v1.14.2
$(addprefix $(KUBERNETES)/,coredns kube-router nats-server):
	@echo "building $(@F) from its module"
	@time GOBIN=$(KUBERNETES) GOWORK=off CGO_ENABLED=0 go install -trimpath -ldflags '-s -w' $(MODULE)

$(KUBERNETES)/etcd: PACKAGE := go.etcd.io/etcd/server/v3
$(KUBERNETES)/kube%: PACKAGE = k8s.io/kubernetes/cmd/$(@F)
$(KUBERNETES)/kwok: PACKAGE := sigs.k8s.io/kwok/cmd/kwok
$(KUBERNETES)/helm: PACKAGE := helm.sh/helm/v3/cmd/helm
$(CONTROLPLANE) $(NODE): deploy/kubernetes/go.mod
	@echo "building $(@F) from its module"
	@cd deploy/kubernetes && version=$$(GOWORK=off go list -m -f '{{.Version}}' k8s.io/kubernetes) && minor=$${version#v1.} && \
		time GOWORK=off CGO_ENABLED=0 go build -trimpath -o $@ -ldflags "-s -w $(RELEASED).gitVersion=$$version \
		$(RELEASED).gitMajor=1 $(RELEASED).gitMinor=$${minor%%.*}" $(PACKAGE)

.PHONY: compose
compose: ## Run docker-compose.yml in a container engine of its own, without a registry, and disturb it; as root
	@./.ci/install-docker
	go test -count=1 -v -timeout 90m ./deploy/compose -args -tools $(TOOLS)

.PHONY: release
release: ## Make the files of a release from the commit HEAD into bin/release, a second time to compare, and test them
	cd deploy/release && GOWORK=off go run . --out $(CURDIR)/bin/release
	cd deploy/release && GOWORK=off go test -count=1 -v -timeout 90m . -args -release $(CURDIR)/bin/release

FUZZTIME ?= 60s
.PHONY: fuzz
fuzz: ## Fuzz every decoder of what comes from outside, for FUZZTIME (60s) each
	@built=$$(mktemp -d); trap 'rm -rf "$$built"' EXIT; \
	grep -rl --include='*_test.go' '^func Fuzz' $(MODULES) | xargs -n1 dirname | sort -u | while read -r package; do \
		go test -c -fuzz '^Fuzz' -o "$$built/fuzz.test" "./$$package" || exit 1; \
		for target in $$(cat "$$package"/*_test.go | sed -n 's/^func \(Fuzz[A-Za-z]*\)(.*/\1/p'); do \
			echo "$$target, in $$package"; \
			(cd "$$package" && "$$built/fuzz.test" -test.run '^$$' -test.fuzz "^$$target\$$" -test.fuzztime $(FUZZTIME) \
				-test.fuzzcachedir "$$(go env GOCACHE)/fuzz/matchmaker.dev/$$package") || exit 1; \
		done; \
	done

.PHONY: scripts
scripts: redis ## Measure for how long single scripts hold Redis, with large tickets and matches, and how long a runner takes to join
	go test -run '^$$' -bench 'ScriptTimes|Join' -benchtime 3x -timeout 30m ./services/internal/state

CASES ?= 1000000
TRY_RULES = go test -count=1 -v -timeout 24h ./functions/internal/search $(if $(SEED),-seed $(SEED)) -run
.PHONY: rules-cases
rules-cases: ## Compare what the function rules finds with a reference in CASES (1000000) random pools, from a SEED; fewer larger ones, games, explanations, changes
	$(TRY_RULES) '^TestSearchFinds' -cases $(CASES) -tickets 10
	$(TRY_RULES) '^TestSearchFinds' -cases $$(($(CASES) / 100)) -least 11 -tickets 16 -parts 1000000
	$(TRY_RULES) '^TestSearchFinds' -cases $$(($(CASES) / 2000)) -least 17 -tickets 24 -parts 5000000
	$(TRY_RULES) '^TestGames' -cases $$(($(CASES) / 4))
	$(TRY_RULES) '^TestExplanations.*True' -cases $$(($(CASES) / 20))
	$(TRY_RULES) '^TestShortcuts' -cases $$(($(CASES) / 20))
	$(TRY_RULES) '^TestNobodyWaits' -cases $$(($(CASES) / 20))
	$(TRY_RULES) '^TestChangesFind' -cases $$(($(CASES) / 50))

.PHONY: contract
contract: redis ## Test the contract of the API, on a system of its own or on URL=… (DATA=folder of a dev, else CONTRACT_…_TOKEN; PROJECT=…)
	go test -count=1 -v -run '^TestContract$$' ./services/test/contract -args \
		$(if $(URL),-url $(URL)) $(if $(DATA),-data $(abspath $(DATA))) $(if $(PROJECT),-project $(PROJECT))

CHAOS = go run matchmaker.dev/services/test/chaos $(if $(DURATION),--duration $(DURATION)) $(if $(SEED),--seed $(SEED)) \
	$(if $(RATE),--rate $(RATE)) $(if $(PACE),--pace $(PACE)) $(if $(TOGETHER),--together $(TOGETHER)) $(if $(RACE),--race) \
	$(if $(STATE),--state $(STATE)) $(if $(DISK),--disk) $(if $(CLOCKS),--clocks) $(if $(LARGE),--large $(LARGE))

# clang is among the compilers of match functions.
.PHONY: chaos
chaos: redis compilers ## Inject faults into a system of many processes for DURATION (2m), from a SEED, and check its promises
	$(CHAOS) $(if $(JOURNAL),--journal $(abspath $(JOURNAL)))

MISTAKE ?= all
.PHONY: chaos-mistakes
chaos-mistakes: redis compilers ## The same with a MISTAKE in the services (all, in turn), which must be found
	$(CHAOS) $(if $(DURATION),,--duration 40s) --patience 1m --break $(MISTAKE)

FAULTS ?= 10000
.PHONY: simulate
simulate: redis ## Disturb every call and message of a system in one process, FAULTS times (10000), from a SEED, and check its promises
	go test -count=1 -v -timeout 1h -run '^TestPromisesAreKept' ./services/test/simulate -args -faults $(FAULTS) $(if $(SEED),-seed $(SEED))

RUNS ?= 100
.PHONY: replay
replay: redis ## Play a world of make simulate, from a SEED (1), RUNS times (100): at least 99 in 100 must be the same; takes 1 GiB
	go test -count=1 -v -timeout 1h -run '^TestReplay$$' ./services/test/simulate -args -again $(RUNS) -faults 500 $(if $(SEED),-seed $(SEED))

# A release is a tag. As long as there is none, a commit stands for the version before.
PREVIOUS ?= $(or $(shell git describe --tags --abbrev=0 HEAD^ 2>/dev/null),132132d7dfd34cfe7be0a27e92fb48ffdfc13095)
.PHONY: bin/previous
bin/previous:
	@git cat-file -e '$(PREVIOUS)^{commit}' 2>/dev/null || { echo "the version before is built from the history, and this clone" \
		"has no commit $(PREVIOUS): run 'git fetch --unshallow --tags', or name another with PREVIOUS=commit"; exit 1; }
	@mkdir -p bin
	dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && git archive '$(PREVIOUS)' | tar -x -C "$$dir" && \
		cd "$$dir" && go build -trimpath -ldflags "-s -w -X main.version=$$(git -C $(CURDIR) describe --tags --always '$(PREVIOUS)')" \
		-o $(CURDIR)/bin/previous matchmaker.dev/services/cmd/matchmaker

.PHONY: upgrade
upgrade: redis compilers bin/previous ## Replace the version before, of the commit PREVIOUS, by this one and back, while players come
	go test -count=1 -timeout 9m -run '^TestUpgrade$$' ./services/test/e2e -args -previous $(CURDIR)/bin/previous

.PHONY: simulate-mistakes
simulate-mistakes: redis ## The same with a MISTAKE in the services (all, in turn), which must be found
	go test -count=1 -v -timeout 2h -run '^TestMistakesAreFound$$' ./services/test/simulate -args -mistake $(MISTAKE) -faults 20000

.PHONY: redis
redis: # a real Redis is needed: tests never skip what they came to test
	@command -v redis-server >/dev/null || command -v valkey-server >/dev/null || ./.ci/install-redis

.PHONY: compilers
compilers: # of the match functions that are not in Go
	@./.ci/install-compilers

.PHONY: generators
generators: compilers # of clients from the OpenAPI documents
	@./.ci/install-generators

.PHONY: clients
clients: generators ## Generate clients from the OpenAPI documents, for Go and TypeScript, and compile them
	go test -count=1 -v ./services/test/clients

BENCH = bin/bench $(if $(ONLY),--only $(ONLY)) $(if $(ROUNDS),--rounds $(ROUNDS))
.PHONY: bench
bench: redis build bin/bench bin/pair.wasm ## Measure speed for 40 minutes, beside the limits of the same run, on a quiet machine; ONLY=shape,…, ROUNDS (5)
	$(BENCH) --json bin/bench.json

.PHONY: compare
compare: redis build bin/previous bin/bench bin/pair.wasm ## Measure the version before, of the commit PREVIOUS, and this one in turns; ONLY=shape,…, ROUNDS (5)
	$(BENCH) --json bin/compare.json --matchmaker bin/previous --matchmaker bin/matchmaker

.PHONY: page
page: bin/bench ## Put the numbers of the last make bench into docs/performance.md and README.md
	bin/bench page bin/bench.json --into docs/performance.md
	bin/bench page bin/bench.json --into README.md --line 'steady: 2,000/s, no server: p50' \
		--line 'steady: 2,000/s, a server each: p50' --line 'sustained: highest rate, no server'

.PHONY: simulated
simulated: redis build bin/bench ## Play players on real processes, in real time, and in mm simulate's virtual time, and compare: 13 minutes
	bin/bench run --only simulated --rounds 1

.PHONY: sizing
sizing: redis build bin/bench ## Measure what each service takes: processors for tickets that arrive, memory for those that wait
	bin/bench size

.PHONY: soak
soak: redis build bin/bench ## Let players arrive for DURATION (1h), and tell whether memory, Redis and the streams stay level
	bin/bench soak $(if $(DURATION),--for $(DURATION))

# clang makes the attackers' functions.
.PHONY: neighbours
neighbours: redis compilers build bin/neighbours ## Measure what one tenant can do to another: each attack held FOR (60s); ONLY=name,…
	bin/neighbours --matchmaker bin/matchmaker --function bin/functions/duel.zip --json bin/neighbours.json \
		$(if $(FOR),--for $(FOR)) $(if $(ONLY),--only $(ONLY))

.PHONY: quality
quality: ## Measure matches and waits of rules beside other matchmakers, in virtual time; WORLDS=…, ENGINE=…, SEEDS (30), LARGE=1, FLEXI=checkout
	go run matchmaker.dev/services/test/quality --out bin/quality \
		$(if $(WORLDS),--worlds $(WORLDS)) $(if $(ENGINE),--engine "$(ENGINE)") $(if $(SEEDS),--seeds $(SEEDS)) $(if $(LARGE),--large) $(if $(FLEXI),--flexi $(FLEXI))

.PHONY: generate
generate: $(TOOLS)/buf $(TOOLS)/protoc-gen-go ## Generate the code of the bus messages, and the lists of services in deploy/
	cd proto && PATH=$(TOOLS):$$PATH buf generate
	go run ./services/internal/catalog/generate

.PHONY: fmt
fmt: ## Format the code
	gofmt -w $(MODULES)

.PHONY: verify
verify: $(TOOLS)/golangci-lint $(TOOLS)/buf $(TOOLS)/protoc-gen-go ## Check format, vet, linters, generated code, go.work, tidiness
	@unformatted=$$(gofmt -l $(MODULES)); if [ -n "$$unformatted" ]; then echo "not formatted (make fmt):"; echo "$$unformatted"; exit 1; fi
	go vet work
	@for m in $(MODULES); do (cd $$m && echo "lint $$m" && $(TOOLS)/golangci-lint run --config $(CURDIR)/.golangci.yml ./...) || exit 1; done
	cd proto && $(TOOLS)/buf lint
	@$(MAKE) --no-print-directory generate
	@for m in $(MODULES); do (cd $$m && go mod tidy -diff) || { echo "$$m is not tidy (go mod tidy)"; exit 1; }; done
	@# APART are no part of the workspace: they would give the others the versions of what they need.
	@named=$$(go list -m -f '{{.Dir}}' | sed 's|^$(CURDIR)/||' | sort | tr '\n' ' '); \
	there=$$(git ls-files '*go.mod' | xargs -n1 dirname | grep -vxF $(APART:%=-e %) | sort | tr '\n' ' '); \
	[ "$$named" = "$$there" ] || { echo "go.work names: $$named"; echo "there are:     $$there"; exit 1; }
	@[ -z "$${CI:-}" ] || git diff --exit-code --stat

$(TOOLS)/buf:
	GOBIN=$(TOOLS) go install $(BUF)
$(TOOLS)/protoc-gen-go:
	GOBIN=$(TOOLS) go install $(PROTOC_GEN_GO)
$(TOOLS)/caddy:
	GOBIN=$(TOOLS) go install $(CADDY)
$(TOOLS)/golangci-lint:
	GOBIN=$(TOOLS) go install $(GOLANGCI_LINT)

.PHONY: clean
clean: ## Remove what was built and what `dev` keeps
	rm -rf bin .matchmaker
