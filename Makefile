# `make help` lists the targets.
export GOTOOLCHAIN := auto
export SAM_CLI_TELEMETRY := 0
# Go stamps binaries with the commit, and fails where git refuses to tell it, as in
# a clone that another user owns.
export GOFLAGS := $(GOFLAGS) $(if $(shell git rev-parse HEAD 2>/dev/null),,-buildvcs=false)
MAKEFLAGS += --no-print-directory

ADDR     ?= 127.0.0.1:8080
ARCH     ?= $(STACK_ARCH)
PORT     ?= 3000
ENV       = dev
SHIFT     = gradual
BUILD    ?= $(strip $(shell git describe --always --dirty --exclude '*' 2>/dev/null) $(shell date -u +%Y-%m-%dT%H:%M:%SZ))
BASE     ?= origin/main
EVENT    ?= events/createplant/create.json
# template.yaml's function with the name of the event's folder.
FUNCTION  = $(shell grep -oi "^  $$(basename "$$(dirname '$(EVENT)')")Function" template.yaml)
# Of every stack in AWS, whichever command deploys it, and what `sam local` and the local
# AWS have run. arm64 would save less than 1 % of what a request costs.
STACK_ARCH = x86_64
HOST_ARCH = $(if $(filter aarch64 arm64,$(shell uname -m)),arm64,x86_64)
GOARCH_OF = $(or $(GOARCH_$(ARCH)),$(error ARCH must be arm64 or x86_64, not $(ARCH)))
GOARCH_arm64  = arm64
GOARCH_x86_64 = amd64
LOCAL_AWS = $(if $(filter local,$(ENV)),tools/local/aws --port $(PORT))
RACE      = $(if $(shell command -v $$(go env CC)),-race)
# With the race detector, a program otherwise waits for a second before it ends.
export GORACE := atexit_sleep_ms=10
GET_SAM   = export PATH=$$PATH:$$(tools/venv tools/requirements/sam.txt)
# Go checks these programs against its checksum database. It builds them as go.mod says,
# because they read code for that version.
GO_RUN     = env GOTOOLCHAIN=$$(go env GOVERSION)+auto go run
LINT       = $(GO_RUN) github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
# -shellcheck= and -pyflakes= switch off linters that are not pinned here.
ACTIONLINT = $(GO_RUN) github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 -shellcheck= -pyflakes=
OASDIFF    = $(GO_RUN) github.com/oasdiff/oasdiff@v1.30.0
GREMLINS   = $(GO_RUN) github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0
VULNCHECK  = $(GO_RUN) golang.org/x/vuln/cmd/govulncheck@v1.8.0

.PHONY: help run plantstore test soak mutate bench check lint format compatible vulnerabilities contract build aws deploy dynamodb sam-local invoke

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## serve on 127.0.0.1:8080, with everything in memory and a page to try it out (ADDR=HOST:PORT)
	@echo 'building; the first time, this takes a minute or two'
	@$(MAKE) --silent plantstore && exec env -u PLANTS_TABLE -u TOKENS_TABLE -u AWS_ENDPOINT_URL -u AWS_ENDPOINT_URL_DYNAMODB \
		bin/plantstore serve --addr $(ADDR)

plantstore: ## build the command-line tool, bin/plantstore
	go build -o bin/plantstore ./cmd/plantstore

# More tests run at once than there are processors, because most wait for another process.
test: ## run every test, with DynamoDB Local if it can be started
	@echo 'The first run fetches Go, the modules and DynamoDB Local, which takes some minutes.'
	tools/local/dynamodb sh -c 'go test -count=1 -parallel 16 $(RACE) ./internal/... ./cmd/... && \
		go test -count=1 -parallel 16 -p 4 ./test/... ./deploy/... ./examples/... ./tools/...'
	@for program in java npm chromium node jq st sam cfn-lint checkov; do \
		command -v $$program >/dev/null || echo "$$program is missing, so some tests were left out: see CONTRIBUTING.md, Tools" >&2; \
	done
	@[ -n "$$DEPLOYMENT" ] || echo 'left out: deployments to a local AWS (DEPLOYMENT=1 go test -v ./test/deployment)' >&2

soak: ## run the random and fault tests at length, and the mutation tests (some minutes)
	SOAK=1 tools/local/dynamodb go test -count=1 -parallel 16 -timeout 1h ./test/faults
	$(MAKE) mutate

# Mutation tests, as .gremlins.yaml says. PACKAGE=plant tries one package.
mutate:
	@status=0; for package in $(or $(PACKAGE),plant token jwt api dynamo memory gateway); do \
		tools/local/dynamodb $(GREMLINS) unleash ./internal/$$package || status=1; \
	done; exit $$status

bench: ## compare the functions with an empty one, on Linux
	tools/bench/run

check: ## run what CI runs first: format, lint, template, workflows, contract, tests (BASE=origin/main)
	go mod tidy -diff
	$(MAKE) lint
	$(ACTIONLINT)
	@if command -v sam >/dev/null; then \
		sam validate --lint && cfn-lint deploy/role.yaml; \
	else \
		echo 'SAM is missing: template.yaml is not validated ($(GET_SAM))'; \
	fi
	@if command -v checkov >/dev/null; then \
		checkov --file template.yaml deploy/role.yaml --skip-download --compact --quiet; \
	else \
		echo 'checkov is missing: template.yaml is not checked for security (export PATH=$$PATH:$$(tools/venv tools/requirements/checkov.txt))'; \
	fi
	$(MAKE) compatible
	$(MAKE) test

lint: ## check format and style of the Go code, in seconds once the linter is built
	@echo 'golangci-lint: the first run builds it, for about two minutes'
	$(LINT) fmt --diff
	$(LINT) run

format: ## format the Go code
	$(LINT) fmt

# What a client relies on: the contract of this title and major version.
CONTRACT = sed -n 's/^  title: //p; s/^  version: \([0-9]*\).*/\1/p'

# Fails if openapi.yaml breaks clients of the commit that the work started from.
compatible:
	@from=$$(git merge-base HEAD $(BASE) || echo none):openapi.yaml; \
	if [ "$$(git show "$$from" | $(CONTRACT))" = "$$($(CONTRACT) openapi.yaml)" ]; then \
		$(OASDIFF) breaking --fail-on ERR "$$from" openapi.yaml; \
	else \
		echo 'openapi.yaml is not compared: $(BASE) has no contract of the same title and major version' >&2; \
	fi

vulnerabilities:
	$(VULNCHECK) ./...

contract: ## test a deployment (URL=..., token in TOKEN, SUBJECT=its subject; creates one plant for each subject, more with WRITES=all; without URL, plantstore serve on DynamoDB Local)
	@: $(if $(URL),,$(if $(filter-out undefined,$(origin URL)),$(error URL is empty: give URL=https://..., or leave it out to check plantstore serve)))
	@go test -c -o bin/contract.test ./test/contract
	@CONTRACT_URL='$(URL)' WRITES='$(WRITES)' SUBJECT='$(SUBJECT)' $(if $(URL),,CI=true tools/local/dynamodb) \
		sh -c 'cd test/contract && exec ../../bin/contract.test -test.run "^Test(Contract|Specification)$$"'

build: ## build the functions with SAM (ARCH=x86_64 or arm64)
	@: $(GOARCH_OF)
	@command -v sam >/dev/null || { echo 'SAM is missing: $(GET_SAM)' >&2; exit 1; }
	ARCH=$(ARCH) BUILD='$(BUILD)' sam build
	@sed -i.bak '/^  Architecture:/,/Default:/s/Default: .*/Default: $(ARCH)/' .aws-sam/build/template.yaml
	@for binary in .aws-sam/build/*/bootstrap; do \
		go version -m $$binary | grep -q 'GOARCH=$(GOARCH_OF)$$' || \
			{ echo "$$binary is not for $(ARCH)" >&2; exit 1; }; \
	done

aws: PORT = 4566
aws: ## start a local AWS on 127.0.0.1:4566, with neither Docker nor an account (PORT=4566)
	@exec tools/local/aws --port $(PORT)

deploy: PORT = 4566
deploy: ARCH = $(if $(LOCAL_AWS),$(HOST_ARCH),$(STACK_ARCH))
deploy: ## build and deploy to AWS (ENV=dev, staging, production, or local for make aws, with its PORT; SHIFT=at-once ignores alarms)
	@grep -qxF '[$(ENV).deploy.parameters]' samconfig.toml || \
		{ echo "samconfig.toml has no environment '$(ENV)'; environments:" $$(sed -n 's/^\[\(.*\)\.deploy\.parameters\]$$/\1/p' samconfig.toml | grep -vx default) >&2; exit 1; }
	$(LOCAL_AWS) $(MAKE) build ARCH=$(ARCH) SHIFT=$(SHIFT)
	$(LOCAL_AWS) sam deploy --config-env $(ENV) $(if $(LOCAL_AWS),,$(if $(AWS_REGION),--region $(AWS_REGION)))
	@$(if $(LOCAL_AWS),$(LOCAL_AWS) tools/local/greet,echo 'Url above is the address. docs/operations.md, "First deployment", says how to test it.')

dynamodb: ## start DynamoDB Local on port 8000 for sam local, with tables and a token
	@tools/local/dynamodb --port 8000 go run ./tools/samples -wait

sam-local: ## run make dynamodb and sam local start-api (PORT=3000, SAM_FLAGS=...)
	@tools/local/dynamodb --port 8000 sh -c '$(MAKE) build ARCH=$(HOST_ARCH) && \
		go run ./tools/samples -port $(PORT) && \
		exec sam local start-api --port $(PORT) $(SAM_FLAGS)'

invoke: ## run make dynamodb and sam local invoke (EVENT=events/FUNCTION/NAME.json)
	@[ -f '$(EVENT)' ] || { echo "event '$(EVENT)' does not exist; events:" >&2; ls events/*/*.json >&2; exit 1; }
	@EVENT='$(EVENT)' tools/local/dynamodb --port 8000 sh -c '$(MAKE) build ARCH=$(HOST_ARCH) >&2 && \
		go run ./tools/samples >/dev/null && \
		exec sam local invoke $(FUNCTION) --event "$$EVENT" $(SAM_FLAGS)'

# `sam build` calls these in a copy of the project, to build a function into
# ARTIFACTS_DIR. It does not pass the architecture. So they write the parameters that
# belong to a build to parameters.yaml, which samconfig.toml gives to `sam local` and
# `sam deploy`. The caller's Go settings must not change the binary.
build-%Function:
	CGO_ENABLED=0 GOOS=linux GOARCH=$(GOARCH_OF) GOAMD64=v1 GOARM64=v8.0 GOEXPERIMENT= GOFLAGS= GOWORK=off go build -tags lambda.norpc,nethttpomithttp2 -trimpath -buildvcs=false \
		-ldflags '-s -w' -o "$(ARTIFACTS_DIR)/bootstrap" ./cmd/$(shell echo $* | tr A-Z a-z)
	@printf '%s\n' 'Architecture: $(ARCH)' 'Build: "$(BUILD)"' 'Shift: $(SHIFT)' >"$(ARTIFACTS_DIR)/../parameters.yaml"
