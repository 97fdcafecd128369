# `make help` lists the targets.
export GOTOOLCHAIN := auto
export SAM_CLI_TELEMETRY := 0
# Otherwise Go asks git for the commit, and fails in a clone that another user owns.
export GOFLAGS := $(value GOFLAGS) -buildvcs=false
MAKEFLAGS += --no-print-directory
# Not from the environment: shells use ENV for something else.
export ENV = default

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

.PHONY: help run plantstore test check lint format compatible vulnerabilities contract deploy dynamodb bench

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## serve on 127.0.0.1:8080, with everything in memory (ADDR=HOST:PORT)
	@echo 'building; the first time, this takes a minute or two'
	@go build -o bin/plantstore ./cmd/plantstore
	@exec env -u AWS_ENDPOINT_URL -u AWS_ENDPOINT_URL_DYNAMODB -u PLANTS_TABLE -u TOKENS_TABLE bin/plantstore serve --addr "$${ADDR:-127.0.0.1:8080}"

plantstore: ## build the command-line tool, bin/plantstore
	go build -o bin/plantstore ./cmd/plantstore

# More tests run at once than there are processors, because most wait for another process.
test: ## run every test, with DynamoDB Local if it can be started
	@echo 'The first run fetches Go, the modules and DynamoDB Local, which takes some minutes.'
	tools/local/dynamodb sh -c 'go test -count=1 -parallel 16 $(RACE) ./internal/... && \
		go test -count=1 -parallel 16 ./cmd/... ./test/... ./examples/... ./tools/...'

check: lint compatible test ## run what CI runs first (needs requirements.txt; BASE=origin/main)
	go mod tidy -diff
	$(ACTIONLINT)
	sam validate --lint && cfn-lint .github/deploy-role.yaml
	checkov --file template.yaml .github/deploy-role.yaml --skip-download --compact --quiet
	lychee --offline --include-fragments --extensions md .

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

contract: ## test a deployment (URL=..., token in TOKEN, SUBJECT=its subject; creates one plant for each subject, more with WRITES=all)
	@test/contract/run

# The functions log the commit. `sam build` as typed leaves it out.
deploy: export COMMIT = $(shell git describe --always --dirty --abbrev=12 --exclude '*')
deploy: ## build and deploy to AWS: dev, or ENV=production (FLAGS=... of sam deploy)
	sam build
	sam deploy --config-env "$$ENV" $(FLAGS)

dynamodb: ## start DynamoDB Local on port 8000 for sam local, with tables and a token
	@tools/local/dynamodb --port 8000 go run ./tools/samples

bench: ## compare the functions with an empty one, on Linux
	go test -run "^$$" -bench . -benchtime 30x ./tools/bench

# `sam build` calls this in a copy of the project, with ARTIFACTS_DIR. No Go setting of the caller changes the binary:
# none is empty, because Go would then take that of `go env -w`. A umask of 077 would keep Lambda from starting it.
build-%Function:
	CGO_ENABLED=0 GOOS=linux GOARCH=amd64 GOAMD64=v1 GOEXPERIMENT=, GOFIPS140=off GOWORK=off GOFLAGS=-trimpath \
		go build -buildvcs=false -tags lambda.norpc,nethttpomithttp2 \
		-ldflags "-s -w -X plantstore/cmd/internal/function.commit=$$COMMIT" \
		-o "$$ARTIFACTS_DIR/bootstrap" ./cmd/$$(echo $* | tr A-Z a-z)
	chmod 755 "$$ARTIFACTS_DIR/bootstrap"
