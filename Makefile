# What one does with this repository. `make help` lists it.
SHELL := /bin/bash
.DEFAULT_GOAL := help

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# Tests run in this order: those that take longest do not begin at the end.
MODULES := test lab sdk services functions pkg/matchfn pkg/client proto
# Not in go.work: what they need is large, and nothing that ships has it. The last two need so much that only their own
# targets compile them.
APART   := deploy
HUGE    := deploy/kubernetes deploy/release
TOOLS   := $(CURDIR)/bin/tools

# All but the race detector compiles without C, and so once.
export CGO_ENABLED ?= 0
WITH_C := CGO_ENABLED=1

# Pinned tools, built from source by the Go toolchain.
BUF           := github.com/bufbuild/buf/cmd/buf@v1.73.0
PROTOC_GEN_GO := google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
GOLANGCI_LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
NATS          := github.com/nats-io/nats-server/v2@v2.12.15
CADDY         := github.com/caddyserver/caddy/v2/cmd/caddy@v2.11.9

comma := ,
override PART := $(subst $(comma), ,$(PART))
# A target with parts does the first ones below, or those that PART names: $(call parts,TARGET,USUAL,OTHERS).
parts = $(if $(filter $(1),$(MAKECMDGOALS)),$(if $(filter-out $(2) $(3),$(PART)),$(error make $(1): PART is one of: \
	$(sort $(2) $(3)))))$(addprefix $(1)-,$(or $(PART),$(2)))

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z]+:.*## |^## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/; s/^## /\t/' | expand -t 12

# What programs are built of, and how far that is.
build = @packages=$$(go list -deps $(2) 2> >(.ci/progress) | wc -l) && mkdir -p $(1) && \
	go build -v -ldflags '-s -w -X main.version=$(VERSION)' -o $(1) $(2) 2>&1 | .ci/progress $$packages; exit $${PIPESTATUS[0]}
SERVER := ./services/cmd/matchmaker
MM     := ./services/cmd/mm

.PHONY: demo
demo: bin/functions/duel.zip bin/functions/arena.zip ## Watch 200 players get matched, and games fill up again, on real parts
	$(call build,bin/,$(SERVER) ./test/demo)
	@bin/demo --matchmaker bin/matchmaker --function bin/functions/duel.zip --arena bin/functions/arena.zip

.PHONY: dev
dev: build ## Run everything on http://127.0.0.1:8080 for your own clients
## DEV='--listen 127.0.0.1:9000' has its flags
	@bin/matchmaker dev $(DEV)

.PHONY: build
build: functions ## Build matchmaker, mm and the ready-made match functions into bin/
	$(call build,bin/,$(SERVER) $(MM))

FUNCTIONS := $(addprefix bin/functions/,duel.zip arena.zip rules.zip)
.PHONY: functions $(FUNCTIONS)
functions: $(FUNCTIONS)
$(FUNCTIONS): bin/functions/%.zip:
	@echo "building $@"
	@cd functions && go run matchmaker.dev/pkg/matchfn/pack -o ../$@ $*

# What tests need beside Go. They never skip what they came to test.
.PHONY: redis compilers browser
redis:
	@command -v redis-server >/dev/null || command -v valkey-server >/dev/null || ./.ci/install-redis
compilers:
	@./.ci/install-compilers
	@./.ci/install-generators
browser:
	@./.ci/install-browser

.PHONY: test
test: $(call parts,test,all,contract) ## Test everything once: units, the contract, each feature end to end, 2,000 faults
.PHONY: test-all test-contract
# Some tests wait while others compute: four packages at a time keep two processors busy.
BUSY = $(shell n=$$(nproc 2>/dev/null || echo 4); echo $$((n > 4 ? n : 4)))
# Package rapid draws the same cases each time; with check-race it draws new ones. Collecting garbage less often saves
# 7 % of the processor time.
test-all: redis
	@RAPID_SEED=1 GOGC=400 .ci/test -short -timeout 30m -p $(BUSY) $(MODULES:%=./%/...)
## PART=contract: only that, also of a running service: URL= DATA=folder of a dev, or CONTRACT_…_TOKEN, PROJECT=
test-contract: redis
	go test -count=1 -v -run '^TestContract$$' ./test/contract -args \
		$(if $(URL),-url $(URL)) $(if $(DATA),-data $(abspath $(DATA))) $(if $(PROJECT),-project $(PROJECT))

.PHONY: check
check: $(call parts,check,race e2e pages console sdk apart faults mistakes oracles ladder delay due,fuzz rules) ## Test everything at length, in half an hour, with compilers for C, Rust and AssemblyScript
## PART=race,e2e,pages,console,sdk,apart,faults,mistakes,oracles,ladder,delay,due: some of it; fuzz: FUZZTIME=60s; rules: CASES=1000000 SEED=; ladder: PLAYERS=10000
.PHONY: check-race check-e2e check-pages check-console pictures check-sdk check-apart check-faults check-mistakes check-oracles check-ladder check-delay check-due check-fuzz check-rules
check-race: redis compilers
	@$(WITH_C) .ci/test -race -timeout 20m $$(go list $(MODULES:%=./%/...) | grep -vE '/test/(e2e|quality/trial)$$')
check-e2e: redis
	@.ci/test -timeout 25m ./test/e2e -args -race-dev
check-pages: redis compilers build typescript
	@./.ci/install-sdk
	@.ci/test -timeout 25m ./test/pages -args -bin $(CURDIR)/bin
# In a browser. `make pictures` also takes the pictures of docs/console.md.
check-console pictures: redis compilers browser build
	@cd test/console && npm ci --no-audit --no-fund --loglevel=error
	go test -count=1 -v -timeout 20m -run '^TestConsole$$' ./test/console -args -bin $(CURDIR)/bin \
		$(if $(filter pictures,$@),-pictures $(CURDIR)/docs/console)
check-sdk:
	@$(MAKE) sdk PART=
check-apart: redis $(TOOLS)/golangci-lint
	@export GOWORK=off; for m in $(APART); do (cd $$m && echo "lint and test $$m" && go mod tidy -diff && \
		$(TOOLS)/golangci-lint run --config $(CURDIR)/.golangci.yml ./... && go test ./...) || exit 1; done
	@.ci/test ./test/quality/trial
check-faults: redis
	@.ci/test -timeout 20m ./test/simulate
check-mistakes: redis
	go test -count=1 -timeout 30m -run '^TestMistakesAreFound$$' ./test/simulate -args -mistake all
# The models of skill beside other implementations of them.
check-oracles: compilers
	@cd services/internal/match/rating/oracle && npm ci --no-audit --no-fund --loglevel=error
	go test -count=1 -v -run '^TestOracles$$' ./services/internal/match/rating -args -oracle \
		'node $(CURDIR)/services/internal/match/rating/oracle/oracle.js'
# Players of hidden skill climb a ladder.
check-ladder:
	go test -count=1 -v -timeout 60m -run '^TestLadder$$' ./test/quality -args -ladder $(or $(PLAYERS),2000)
# As root the kernel delays, by tc, and what else the machine does waits.
check-delay:
	go test -count=1 -v -run '^TestDelay$$' ./services/beacon -args -delay
check-due:
	@.ci/long due

.PHONY: verify
verify: $(TOOLS)/golangci-lint $(TOOLS)/buf $(TOOLS)/protoc-gen-go ## Check format, linters, generated code and tidiness; FIX=1 formats and generates
	$(if $(FIX),gofmt -w $(MODULES) $(APART) $(HUGE))
	@unformatted=$$(gofmt -l $(MODULES) $(APART) $(HUGE)); [ -z "$$unformatted" ] || { echo "not formatted (make verify FIX=1):"; echo "$$unformatted"; exit 1; }
	@cd proto && $(TOOLS)/buf lint && PATH=$(TOOLS):$$PATH $(TOOLS)/buf generate
	@go run ./services/internal/platform/catalog/generate
	@go run ./sdk/generate
	@for m in $(MODULES); do (cd $$m && echo "lint $$m" && $(TOOLS)/golangci-lint run --config $(CURDIR)/.golangci.yml ./...) || exit 1; done
	@for m in $(MODULES); do (cd $$m && GOWORK=off go mod tidy -diff) || { echo "$$m is not tidy (go mod tidy)"; exit 1; }; done
	@named=$$(echo $$(go list -m -f '{{.Dir}}' | sed 's|^$(CURDIR)/||' | LC_ALL=C sort)); [ "$$named" = "$(sort $(MODULES))" ] || \
		{ echo "go.work names $$named, the Makefile $(sort $(MODULES))"; exit 1; }
	@there=$$(echo $$(git ls-files '*go.mod' | xargs -n1 dirname | LC_ALL=C sort)); [ "$$there" = "$(sort $(MODULES) $(APART) $(HUGE))" ] || \
		{ echo "the Makefile lacks some of the modules $$there"; exit 1; }
	@.ci/lines >/dev/null
	@[ -z "$${CI:-}" ] || git diff --exit-code --stat
$(TOOLS)/buf: MODULE := $(BUF)
$(TOOLS)/protoc-gen-go: MODULE := $(PROTOC_GEN_GO)
$(TOOLS)/golangci-lint: MODULE := $(GOLANGCI_LINT)
$(TOOLS)/caddy: MODULE := $(CADDY)
$(addprefix $(TOOLS)/,buf protoc-gen-go golangci-lint caddy):
	@echo "building $(@F), once"
	@GOBIN=$(TOOLS) GOWORK=off go install -v $(MODULE) 2>&1 | .ci/progress; exit $${PIPESTATUS[0]}

.PHONY: sdk sdk-typescript sdk-cpp sdk-csharp sdk-unity sdk-unreal sdk-godot sdk-conformance sdk-pack
sdk: $(call parts,sdk,typescript cpp csharp unity unreal godot conformance,pack) ## Build and test the SDKs, and pack them into bin/sdk/
## PART=typescript,cpp,csharp,unity,unreal,godot,conformance: some of them; pack: without tests, with Go and npm
sdk-pack: typescript
	@go run ./sdk/pack --out bin/sdk
# With the samples of all languages, and a page in Chromium.
sdk-typescript: redis build browser typescript sdk-csharp sdk-cpp sdk-godot
	$(call build,bin/samples/,./pkg/client/samples/...)
	@cd sdk/typescript && npm test --silent
.PHONY: typescript
typescript:
	@./.ci/install-sdk pack
	@mkdir -p bin/sdk && cd sdk/typescript && npm run --silent build && npm pack --silent --pack-destination $(CURDIR)/bin/sdk
# With both compilers, and with sanitizers by the first.
sdk-cpp:
	@./.ci/install-sdk
	@[ -d bin/locale ] || { mkdir -p bin/locale && localedef -i de_DE -f UTF-8 bin/locale/de_DE.UTF-8; }
	@echo leak:argz_add_sep >bin/leaks # what the C library keeps of LOCPATH
	@mkdir -p bin/sdk && for compiler in g++ clang++; do \
		cmake -S sdk/cpp -B bin/cpp/$$compiler -DCMAKE_CXX_COMPILER=$$compiler -DMATCHMAKER_TESTS=ON \
			-DMATCHMAKER_SANITIZE=$$([ $$compiler = g++ ] && echo ON || echo OFF) >bin/cpp.log && \
		cmake --build bin/cpp/$$compiler -j 2 >bin/cpp.log 2>&1 || { cat bin/cpp.log; exit 1; }; \
		LOCPATH=bin/locale LSAN_OPTIONS=print_suppressions=0:suppressions=bin/leaks bin/cpp/$$compiler/fake-test || exit 1; done
	@go run ./sdk/pack --out bin/sdk cpp
# As C# 7, which Unity's and Mono's compilers read.
MCS := mcs -langversion:7 -warnaserror -lib:bin/csharp -r:System.Net.Http.dll -r:System.Numerics.dll
sdk-csharp:
	@./.ci/install-sdk
	@mkdir -p bin/sdk bin/csharp
	@$(MCS) -target:library -out:bin/csharp/Matchmaking.dll sdk/csharp/src/*.cs
	@$(MCS) -r:Matchmaking.dll -out:bin/csharp/driver.exe sdk/csharp/test/Driver.cs
	@$(MCS) -r:Matchmaking.dll -out:bin/csharp/test.exe sdk/csharp/test/FakeTest.cs && mono bin/csharp/test.exe
	@for sample in sdk/csharp/samples/*.cs; do \
		$(MCS) -r:Matchmaking.dll -out:bin/csharp/$$(basename $$sample .cs).exe $$sample || exit 1; done
	@go run ./sdk/pack --out bin/sdk csharp
# The package as it is installed, on a stand-in for Unity.
UNITY := $(MCS) -lib:bin/unity -r:UnityEngine.dll
sdk-unity: sdk-csharp
	@rm -rf bin/unity && mkdir -p bin/unity && go run ./sdk/pack --out bin/sdk unity && tar -xzf bin/sdk/dev.matchmaker.client-*.tgz -C bin/unity
	@cp bin/csharp/Matchmaking.dll bin/unity && $(MCS) -r:Matchmaking.dll -target:library -out:bin/unity/UnityEngine.dll sdk/unity/test/UnityEngine.cs
	@$(UNITY) -target:library -out:bin/unity/Package.dll bin/unity/package/Runtime/*.cs bin/unity/package/Runtime/Core/*.cs
	@$(UNITY) -r:Package.dll -define:UNITY -out:bin/unity/driver.exe sdk/csharp/test/Driver.cs
	@sed '/^```csharp/,/^```$$/!d; /^```/d' sdk/unity/README.md | sed -e '/^README$$/{r /dev/stdin' -e 'd}' sdk/unity/test/Page.cs >bin/unity/Page.cs
	@$(UNITY) -r:Package.dll -target:library -out:bin/unity/samples.dll bin/unity/Page.cs bin/unity/package/Samples~/*/*.cs
	@$(UNITY) -r:Package.dll -out:bin/unity/play.exe sdk/unity/test/Play.cs bin/unity/package/Tests/Runtime/*.cs && mono bin/unity/play.exe

# The plugin as it is installed, on stand-ins for Unreal's types. What it includes of Unreal's is one file.
UNREAL := bin/unreal/Matchmaker/Source/Matchmaking
sdk-unreal:
	@./.ci/install-sdk
	@rm -rf bin/unreal && mkdir -p bin/unreal && go run ./sdk/pack --out bin/sdk unreal && cd bin/unreal && cmake -E tar xf ../sdk/matchmaker-unreal-*.zip
	@for header in $$(grep -ohE '^#include "[^"]*"' sdk/unreal/Source/*/*/*.h sdk/unreal/Source/*/*/*.cpp | cut -d '"' -f 2); do \
		[ -n "$$(find $(UNREAL) -path "*/$$header")" ] || { mkdir -p bin/unreal/stub/$$(dirname $$header) && \
			echo '#include "Unreal.h"' >bin/unreal/stub/$$header; }; done
	@cmake -S sdk/unreal/test -B bin/unreal/build -DSOURCE=$(CURDIR)/$(UNREAL) -DSTUB=$(CURDIR)/bin/unreal/stub \
		-DCMAKE_CXX_COMPILER=g++ >bin/unreal.log && cmake --build bin/unreal/build -j 2 >bin/unreal.log 2>&1 || { cat bin/unreal.log; exit 1; }
	@bin/unreal/build/play

# The addon of Godot 3 as it is installed.
GODOT := bin/godot3
sdk-godot:
	@./.ci/install-sdk
	@rm -rf $(GODOT) && mkdir -p $(GODOT) && go run ./sdk/pack --out bin/sdk godot3 godot4 && cd $(GODOT) && cmake -E tar xf ../sdk/matchmaker-godot3-*.zip
	@cp sdk/godot/test/project.godot $(GODOT) && go test -count=1 ./sdk/pack
	@said=$$(HOME=$(CURDIR)/$(GODOT) timeout 120 godot3-server --path $(GODOT) -s $(CURDIR)/sdk/godot/test/fake_test.gd 2>&1); \
		[[ $$said == *passed && $$said != *"SCRIPT ERROR"* ]] || { echo "$$said"; exit 1; }

DRIVERS := --driver Go=bin/conformance/driver --driver 'TypeScript=node sdk/typescript/conformance.mjs' \
	--driver C++=bin/cpp/g++/driver --driver 'C\#=mono bin/csharp/driver.exe' \
	--driver 'Unity=mono bin/unity/driver.exe' --driver Unreal=bin/unreal/build/driver \
	--driver 'Godot=node sdk/godot/test/driver.mjs $(CURDIR)/$(GODOT) $(CURDIR)/sdk/godot/test/driver.gd'
sdk-conformance: sdk-typescript sdk-cpp sdk-csharp sdk-unity sdk-unreal sdk-godot
	$(call build,bin/conformance/,./sdk/conformance ./sdk/conformance/driver)
	bin/conformance/conformance --into docs/clients.md $(DRIVERS)
	bin/conformance/conformance --wrong --patience 4s $(DRIVERS)
	@echo && cd bin/sdk && du -b *

# What follows takes long. `.ci/long` records the last green run of the whole; GIVEN tells it which of these variables
# were given. `make check` prints what is due.
CHANGES := ONLY ROUNDS FOR DURATION RATE PACE TOGETHER RACE STATE DISK CLOCKS LARGE JOURNAL MISTAKE FAULTS RUNS WORLDS \
	ENGINE SEEDS FLEXI FROM PREVIOUS FUZZTIME CASES
export GIVEN = $(foreach v,$(CHANGES),$(if $(filter command environment,$(firstword $(origin $v))),$(if $($v),$v=$($v))))

.PHONY: bench
bench: $(call parts,bench,run,compare page simulated sizing soak scripts neighbours) ## Measure speed for 45 minutes, beside the limits of the same run; ONLY=shape,… ROUNDS=5
## PART=compare: beside the commit PREVIOUS; page: into the documents; simulated: beside virtual time;
## sizing: what each service needs; soak: DURATION=1h; scripts: of Redis; neighbours: attacks, ONLY= FOR=60s
BENCH = bin/bench $(if $(ONLY),--only $(ONLY)) $(if $(ROUNDS),--rounds $(ROUNDS))
.PHONY: bin/bench bin/neighbours bin/pair.wasm
bin/bench bin/neighbours:
	$(call build,bin/,./test/$(@F))
bin/pair.wasm:
	GOOS=wasip1 GOARCH=wasm go build -trimpath -buildmode=c-shared -ldflags "-s -w" -o $@ matchmaker.dev/services/test/bench/pair
.PHONY: bench-run bench-compare bench-page bench-simulated bench-sizing bench-soak bench-scripts bench-neighbours
bench-run: redis build bin/bench bin/pair.wasm
	@.ci/long bench $(BENCH) --json bin/bench.json --curve bin/launch.svg
bench-compare: redis build bin/previous bin/bench bin/pair.wasm
	$(BENCH) --json bin/compare.json --matchmaker bin/previous --matchmaker bin/matchmaker
bench-page: bin/bench
	bin/bench page bin/bench.json --into docs/performance.md
	bin/bench page bin/bench.json --into README.md --line 'steady: 2,000/s, no server: p50' \
		--line 'steady: 2,000/s, a server each: p50' --line 'sustained: highest rate, no server'
bench-simulated: redis build bin/bench
	bin/bench run --only simulated --rounds 1
bench-sizing: redis build bin/bench
	bin/bench size
bench-soak: redis build bin/bench
	bin/bench soak $(if $(DURATION),--for $(DURATION))
bench-scripts: redis
	go test -run '^$$' -bench 'ScriptTimes|Join' -benchtime 3x -timeout 30m ./services/internal/state
bench-neighbours: redis build bin/neighbours
	@.ci/long neighbours bin/neighbours --matchmaker bin/matchmaker --function bin/functions/duel.zip --json bin/neighbours.json \
		$(if $(FOR),--for $(FOR)) $(if $(ONLY),--only $(ONLY))

# A release is a tag. As long as there is none, a commit stands for the version before.
PREVIOUS ?= $(or $(shell git describe --tags --abbrev=0 HEAD^ 2>/dev/null),b491eeeb)
.PHONY: bin/previous
bin/previous:
	@git cat-file -e '$(PREVIOUS)^{commit}' 2>/dev/null || { echo "the version before is built from the history, and this clone" \
		"has no commit $(PREVIOUS): run 'git fetch --unshallow --tags', or name another with PREVIOUS=commit"; exit 1; }
	@mkdir -p bin
	dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && git archive '$(PREVIOUS)' | tar -x -C "$$dir" && \
		cd "$$dir" && go build -trimpath -ldflags "-s -w -X main.version=$$(git -C $(CURDIR) describe --tags --always '$(PREVIOUS)')" \
		-o $(CURDIR)/bin/previous matchmaker.dev/services/cmd/matchmaker

.PHONY: chaos
chaos: $(call parts,chaos,run,mistakes simulate simulate-mistakes replay upgrade) ## Disturb a system of many processes for DURATION=2m, SEED=, and check its promises
## STATE=sentinel|cluster PACE=150ms TOGETHER=6 DISK=1 CLOCKS=1 LARGE=0.2 RACE=1: other ones; JOURNAL=file
## PART=simulate: the same in one process, FAULTS=10000, SEED=; replay: a world again and again, RUNS=100;
## mistakes, simulate-mistakes: with a MISTAKE, which must be found; upgrade: the commit PREVIOUS beside this one
CHAOS = go run matchmaker.dev/services/test/chaos $(if $(DURATION),--duration $(DURATION)) $(if $(SEED),--seed $(SEED)) \
	$(if $(RATE),--rate $(RATE)) $(if $(PACE),--pace $(PACE)) $(if $(TOGETHER),--together $(TOGETHER)) $(if $(RACE),--race) \
	$(if $(STATE),--state $(STATE)) $(if $(DISK),--disk) $(if $(CLOCKS),--clocks) $(if $(LARGE),--large $(LARGE))
SIMULATE = go test -count=1 -v -timeout 2h ./test/simulate -run
MISTAKE ?= all
FAULTS  ?= 10000
RUNS    ?= 100
.PHONY: chaos-run chaos-mistakes chaos-simulate chaos-simulate-mistakes chaos-replay chaos-upgrade
chaos-run: redis
	@$(if $(RACE),$(WITH_C)) $(if $(JOURNAL),,.ci/long $(if $(STATE),chaos-$(STATE),chaos)) $(CHAOS) $(if $(JOURNAL),--journal $(abspath $(JOURNAL)))
chaos-mistakes: redis
	$(CHAOS) $(if $(DURATION),,--duration 40s) --patience 1m --break $(MISTAKE)
chaos-simulate: redis
	$(SIMULATE) '^TestPromisesAreKept' -args -faults $(FAULTS) $(if $(SEED),-seed $(SEED))
chaos-simulate-mistakes: redis
	$(SIMULATE) '^TestMistakesAreFound$$' -args -mistake $(MISTAKE) -faults 20000
chaos-replay: redis
	$(SIMULATE) '^TestReplay$$' -args -again $(RUNS) -faults 500 $(if $(SEED),-seed $(SEED))
chaos-upgrade: redis bin/previous
	@.ci/long upgrade go test -count=1 -timeout 9m -run '^TestUpgrade$$' ./test/e2e -args -previous $(CURDIR)/bin/previous

.PHONY: quality
quality: ## Measure matches and waits of rules beside other matchmakers; WORLDS= ENGINE= SEEDS=30 LARGE=1
	@.ci/long quality go run ./test/quality --out $(CURDIR)/bin/quality \
		$(if $(WORLDS),--worlds $(WORLDS)) $(if $(ENGINE),--engine "$(ENGINE)") $(if $(SEEDS),--seeds $(SEEDS)) $(if $(LARGE),--large) $(if $(FLEXI),--flexi $(FLEXI))

.PHONY: release
release: typescript ## Make the files of a release from the commit HEAD into bin/release, a second time to compare, and test them
	cd deploy/release && GOWORK=off go run . --out $(CURDIR)/bin/release
	@cd deploy/release && GOWORK=off $(CURDIR)/.ci/long release go test -count=1 -v -timeout 90m . -args -release $(CURDIR)/bin/release

.PHONY: kubernetes
kubernetes: $(call parts,kubernetes,chart,node) ## Try the chart, its upgrade FROM=HEAD^, all manifests and Agones on a real control plane; as root
## PART=node: its pods on two real nodes, network policies, a lost node, a drain
# The first build of a control plane takes 13 minutes of processor time and 3 GB of Go's cache.
KUBERNETES   := $(CURDIR)/bin/kubernetes
CONTROLPLANE := $(addprefix $(KUBERNETES)/,etcd kube-apiserver kube-controller-manager kube-scheduler kwok helm)
NODE         := $(addprefix $(KUBERNETES)/,kubelet kube-proxy kubectl)
RELEASED     := -X k8s.io/component-base/version
FROM         ?= HEAD^
.PHONY: kubernetes-chart kubernetes-node
kubernetes-chart: $(CONTROLPLANE)
	go test -c -o $(KUBERNETES)/agones.test ./services/allocator/agones
	@cd deploy/kubernetes && GOWORK=off $(CURDIR)/.ci/long kubernetes go test -count=1 -v -timeout 40m . -args \
		-binaries $(KUBERNETES) -from '$(FROM)'
kubernetes-node: $(filter-out %/kwok,$(CONTROLPLANE)) $(NODE) $(addprefix $(KUBERNETES)/,coredns kube-router nats-server) build
	@./.ci/install-docker
	@cd deploy/kubernetes && GOWORK=off $(CURDIR)/.ci/long node go test -count=1 -v -timeout 20m -run '^TestNode$$' . -args \
		-binaries $(KUBERNETES) -node $(CURDIR)/bin

$(KUBERNETES)/nats-server: MODULE := $(NATS)
$(KUBERNETES)/kube-router: MODULE := github.com/cloudnativelabs/kube-router/v2/cmd/kube-router@v2.1.0
$(KUBERNETES)/coredns: MODULE := github.com/coredns/coredns@v1.14.2
$(addprefix $(KUBERNETES)/,coredns kube-router nats-server):
	@echo "building $(@F), once"
	@GOBIN=$(KUBERNETES) GOWORK=off go install -v -trimpath -ldflags '-s -w' $(MODULE) 2>&1 | .ci/progress; exit $${PIPESTATUS[0]}
$(KUBERNETES)/etcd: PACKAGE := go.etcd.io/etcd/server/v3
$(KUBERNETES)/kube%: PACKAGE = k8s.io/kubernetes/cmd/$(@F)
$(KUBERNETES)/kwok: PACKAGE := sigs.k8s.io/kwok/cmd/kwok
$(KUBERNETES)/helm: PACKAGE := helm.sh/helm/v3/cmd/helm
$(CONTROLPLANE) $(NODE): deploy/kubernetes/go.mod
	@echo "building $(@F), once"
	@cd deploy/kubernetes && version=$$(GOWORK=off go list -m -f '{{.Version}}' k8s.io/kubernetes) && minor=$${version#v1.} && \
		GOWORK=off go build -v -trimpath -o $@ -ldflags "-s -w $(RELEASED).gitVersion=$$version \
		$(RELEASED).gitMajor=1 $(RELEASED).gitMinor=$${minor%%.*}" $(PACKAGE) 2>&1 | $(CURDIR)/.ci/progress; exit $${PIPESTATUS[0]}

.PHONY: compose
compose: $(call parts,compose,run,gateway image) ## Run docker-compose.yml in a container engine of its own, and disturb it; as root
## PART=gateway: the contract through its gateway; image: what the image has, run as a container does
.PHONY: compose-run compose-gateway compose-image
compose-run:
	@./.ci/install-docker
	@cd deploy && GOWORK=off $(CURDIR)/.ci/long compose go test -count=1 -v -timeout 90m ./compose -args -tools $(TOOLS)
compose-gateway: redis $(TOOLS)/caddy
	@.ci/long gateway go test -count=1 -timeout 9m -run '^TestGateway$$' ./test/e2e -args -caddy $(TOOLS)/caddy
compose-image: redis
	cd deploy && GOWORK=off go test -count=1 -run '^TestImage$$' . -args -image $(CURDIR)/bin/image
	@.ci/long image go test -count=1 -run '^TestImage$$' ./test/e2e -args -image $(CURDIR)/bin/image

.PHONY: check-fuzz check-rules
FUZZTIME ?= 60s
check-fuzz:
	@built=$$(mktemp -d); trap 'rm -rf "$$built"' EXIT; \
	grep -rl --include='*_test.go' '^func Fuzz' $(MODULES) | xargs -n1 dirname | sort -u | while read -r package; do \
		go test -c -fuzz '^Fuzz' -o "$$built/fuzz.test" "./$$package" || exit 1; \
		for target in $$(cat "$$package"/*_test.go | sed -n 's/^func \(Fuzz[A-Za-z]*\)(.*/\1/p'); do \
			echo "$$target, in $$package"; \
			(cd "$$package" && "$$built/fuzz.test" -test.run '^$$' -test.fuzz "^$$target\$$" -test.fuzztime $(FUZZTIME) \
				-test.fuzzcachedir "$$(go env GOCACHE)/fuzz/matchmaker.dev/$$package") || exit 1; \
		done; \
	done
# What the function rules finds, compared with a reference. A case that fails is kept as files for `mm function test`.
CASES ?= 1000000
TRY_RULES = go test -count=1 -v -timeout 24h ./functions/internal/search $(if $(SEED),-seed $(SEED)) -run
check-rules:
	$(TRY_RULES) '^TestSearchFinds' -cases $(CASES) -tickets 10
	$(TRY_RULES) '^TestSearchFinds' -cases $$(($(CASES) / 100)) -least 11 -tickets 16 -parts 1000000
	$(TRY_RULES) '^TestSearchFinds' -cases $$(($(CASES) / 2000)) -least 17 -tickets 24 -parts 5000000
	$(TRY_RULES) '^TestGames' -cases $$(($(CASES) / 4))
	$(TRY_RULES) '^TestExplanations.*True' -cases $$(($(CASES) / 20))
	$(TRY_RULES) '^TestShortcuts' -cases $$(($(CASES) / 20))
	$(TRY_RULES) '^TestNobodyWaits' -cases $$(($(CASES) / 20))
	$(TRY_RULES) '^TestChangesFind' -cases $$(($(CASES) / 50))

.PHONY: clean
clean: ## Remove what was built and what `dev` keeps
	rm -rf bin .matchmaker
