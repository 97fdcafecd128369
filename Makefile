# `make help` lists the targets.
GO := $(shell GOTOOLCHAIN=local go env GOVERSION GOTOOLCHAIN 2>/dev/null)
ifneq ($(lastword $(GO)),local) # Go before 1.21 does not know GOTOOLCHAIN
$(error Go 1.21 or later is needed, and $(if $(GO),this is $(GO),there is none))
endif

export GOTOOLCHAIN := auto
export GOWORK := off
export SAM_CLI_TELEMETRY := 0
# Without this, Go asks git for the commit, and fails in a clone that another user owns.
export GOFLAGS := $(value GOFLAGS) -buildvcs=false
MAKEFLAGS += --no-print-directory
ENV ?= default
# Only default and production are ever expanded, because any other value could run commands.
CONFIG = $(if $(filter 1,$(words $(value ENV))),$(filter default production,$(value ENV)))

# The race detector needs cgo.
RACE    = $(if $(filter 1,$(shell go env CGO_ENABLED)),-race)
# Without this, a program with the race detector waits for a second before it exits.
export GORACE := atexit_sleep_ms=10
# These tools are built with this module's version of Go, because with an older one, they could not read its code.
GO_RUN  = env GOTOOLCHAIN=$$(go env GOVERSION)+auto go run
LINT    = $(GO_RUN) github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
OASDIFF = $(GO_RUN) github.com/oasdiff/oasdiff@v1.30.0

.PHONY: help run plantstore test check lint contract deploy dynamodb bench

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: plantstore ## serve on 127.0.0.1:8080, with everything in memory (ADDR=HOST:PORT)
	@bin/plantstore serve --addr "$${ADDR:-127.0.0.1:8080}"

plantstore: ## build the command-line tool, bin/plantstore
	@[ -f bin/plantstore ] || echo 'building bin/plantstore, which takes a minute or two the first time'
	@go build -o bin/plantstore ./cmd/plantstore

# More tests run at once than there are processors, because most wait for another process.
test: ## run every test, with DynamoDB Local if it can be started
	@echo 'The tests take about a minute, and the first time up to four.'
	@tools/local/dynamodb go test -count=1 -parallel 16 $(RACE) ./...
	@command -v python3 >/dev/null || echo 'The test of examples/create.py is SKIPPED: there is no python3' >&2

# additions.txt lists what openapi.yaml may add to the specification, and oasdiff reports every other change of paths,
# members and types.
check: ## check format, style, contract and template, and run every test
	@command -v sam >/dev/null && command -v checkov >/dev/null || \
		{ echo 'sam or checkov is missing: CONTRIBUTING.md says how to install them' >&2; exit 1; }
	@echo 'The checks take about two minutes, and the first time up to ten.'
	go mod tidy -diff
	$(MAKE) lint
	@changes=$$($(OASDIFF) changelog --fail-on INFO --severity-levels test/contract/testdata/additions.txt \
		test/contract/testdata/specification.yaml openapi.yaml) || { echo "$$changes" >&2; exit 1; }
	sam validate --lint
	checkov --file template.yaml --skip-download --compact --quiet
	$(MAKE) test

lint: ## check the format and style of the Go code without changing it
	@$(LINT) fmt --diff || { echo "to make the changes that a diff shows: $(LINT) fmt" >&2; exit 1; }
	$(LINT) run

contract: ## check a deployment against the contract (URL=..., TOKEN=...; creates plants)
	@CONTRACT_URL="$$URL" go test -count=1 -v -run '^TestContract$$' ./test/contract

deploy: ## build and deploy to AWS: dev, or ENV=production
	$(if $(CONFIG),,$(error ENV is "$(value ENV)", but must be production; leave it out to deploy dev))
	@command -v sam >/dev/null || \
		{ echo 'sam is missing: README.md says how to install it, and its virtual environment must be active' >&2; exit 1; }
	sam build && sam deploy --config-env $(CONFIG)

dynamodb: ## start DynamoDB Local on port 8000 for sam local, with tables and a token
	@echo 'Starting DynamoDB Local takes up to a minute, and longer if Docker has to pull it.'
	@tools/local/dynamodb --port 8000 go run ./tools/samples

bench: ## measure how fast createplant answers, on Linux, in about a minute
	go test -run "^$$" -bench . -benchtime 30x ./tools/bench

# `sam build` calls this. Without mode 755, Lambda cannot start the file.
build-%Function:
	CGO_ENABLED=0 GOOS=linux GOARCH=amd64 GOAMD64=v1 GOFLAGS=-trimpath go build \
		-buildvcs=$$(git rev-parse >/dev/null 2>&1 && echo auto || echo false) \
		-tags lambda.norpc -ldflags '-s -w' \
		-o "$$ARTIFACTS_DIR/bootstrap" ./cmd/$$(echo $* | tr A-Z a-z)
	chmod 755 "$$ARTIFACTS_DIR/bootstrap"
