# `make help` lists the targets.
export GOTOOLCHAIN := auto
export SAM_CLI_TELEMETRY := 0
# Otherwise Go asks git for the commit, and fails in a clone that another user owns.
export GOFLAGS := $(value GOFLAGS) -buildvcs=false
MAKEFLAGS += --no-print-directory

# The environment does not set these two: shells use ENV for something else, and SHIFT=at-once
# would switch the canary off unnoticed.
export ENV = dev
export SHIFT = gradual

# make expands no value of its command line, such as URL=.... Recipes read those that
# `make help` names from the environment, so that none becomes a part of a command.
$(foreach _v,$(.VARIABLES),$(if $(filter command,$(origin $(_v))),$(eval override $(_v) := $$(value $(_v)))$(eval export $(_v))))

RACE      = $(if $(shell command -v $$(go env CC)),-race)
# With the race detector, a program otherwise waits for a second before it ends.
export GORACE := atexit_sleep_ms=10
# Go checks these programs against its checksum database. It builds them as go.mod says,
# because they read code for that version.
GO_RUN     = env GOTOOLCHAIN=$$(go env GOVERSION)+auto go run
LINT       = $(GO_RUN) github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
# -shellcheck= and -pyflakes= switch off linters that are not pinned here.
ACTIONLINT = $(GO_RUN) github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 -shellcheck= -pyflakes=
OASDIFF    = $(GO_RUN) github.com/oasdiff/oasdiff@v1.30.0
VULNCHECK  = $(GO_RUN) golang.org/x/vuln/cmd/govulncheck@v1.8.0

.PHONY: help run plantstore test soak check lint format compatible vulnerabilities contract build deploy dynamodb sam-local invoke

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## serve on 127.0.0.1:8080, with everything in memory (ADDR=HOST:PORT)
	@echo 'building; the first time, this takes a minute or two'
	@go build -o bin/plantstore ./cmd/plantstore
	@exec env -u AWS_ENDPOINT_URL -u AWS_ENDPOINT_URL_DYNAMODB -u PLANTS_TABLE -u TOKENS_TABLE bin/plantstore serve --addr "$${ADDR:-127.0.0.1:8080}"

plantstore: ## build the command-line tool, bin/plantstore
	go build -o bin/plantstore ./cmd/plantstore

# Without one of these, some tests and checks are left out.
PROGRAMS = java npm jq st sam cfn-lint checkov lychee
PROGRAMS += chromium

# More tests run at once than there are processors, because most wait for another process.
test: ## run every test, with DynamoDB Local if it can be started
	@echo 'The first run fetches Go, the modules and DynamoDB Local, which takes some minutes.'
	tools/local/dynamodb sh -c 'go test -count=1 -parallel 16 $(RACE) ./internal/... ./cmd/... && \
		go test -count=1 -parallel 16 -p 4 ./test/... ./deploy/... ./examples/... ./tools/...'
	@for program in $(PROGRAMS); do \
		command -v $$program >/dev/null || echo "$$program is missing, so some tests or checks are left out: see CONTRIBUTING.md, Tools" >&2; \
	done
	@[ -n "$$DEPLOYMENT" ] || echo 'left out: deployments to a local AWS (DEPLOYMENT=1 go test -v ./test/deployment)' >&2

soak: ## run tests at length (some minutes)
	SOAK=1 tools/local/dynamodb go test -count=1 -parallel 16 -timeout 1h ./test/faults

check: ## run what CI runs first: format, lint, template, workflows, documents, contract, tests (BASE=origin/main)
	go mod tidy -diff
	$(MAKE) lint
	$(ACTIONLINT)
	@if command -v sam >/dev/null; then sam validate --lint && cfn-lint $(wildcard deploy/*.yaml); fi
	@if command -v checkov >/dev/null; then checkov --file template.yaml $(wildcard deploy/*.yaml) --skip-download --compact --quiet; fi
	@if command -v lychee >/dev/null; then lychee --offline --include-fragments --extensions md .; fi
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
	@base=$${BASE:-refs/remotes/origin/main}; \
	from=$$(git merge-base HEAD "$$base" || echo none):openapi.yaml; \
	if [ "$$(git show "$$from" | $(CONTRACT))" = "$$($(CONTRACT) openapi.yaml)" ]; then \
		$(OASDIFF) breaking --fail-on ERR "$$from" openapi.yaml; \
	else \
		echo 'openapi.yaml is not compared:' "$$base" 'has no contract of the same title and major version' >&2; \
	fi

vulnerabilities:
	$(VULNCHECK) ./...

contract: ## test a deployment (URL=..., token in TOKEN, SUBJECT=its subject; creates one plant for each subject, more with WRITES=all; without URL, plantstore serve on DynamoDB Local)
	@test/contract/run

build: ## build the functions with SAM (ARCH=x86_64 or arm64)
	@tools/build "$$ARCH"

# Environments without users.
UNTESTED = dev

deploy: ## build and deploy to AWS (ENV=dev; staging or production the first time; SHIFT=at-once ignores alarms)
	@case " $(UNTESTED) " in \
	*" $$ENV "*) deploy/stack "$$ENV" "$$SHIFT" ;; \
	*) deploy/deploy "$$ENV" "$$SHIFT" first ;; \
	esac

dynamodb: ## start DynamoDB Local on port 8000 for sam local, with tables and a token
	@tools/local/dynamodb --port 8000 go run ./tools/samples -wait

sam-local: ## run make dynamodb and sam local start-api (PORT=3000, SAM_FLAGS=...)
	@tools/local/sam start-api

invoke: ## run make dynamodb and sam local invoke (EVENT=events/FUNCTION/NAME.json, SAM_FLAGS=...)
	@tools/local/sam invoke

# `sam build` calls these in a copy of the project, with ARTIFACTS_DIR.
build-%Function:
	@tools/function $*

# Targets of parts that a clone may not have, each in its part's folder.
-include tools/bench/bench.mk
-include tools/local/aws.mk
-include tools/mutation/mutation.mk
-include test/deployment/rehearse.mk
