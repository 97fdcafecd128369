# `make help` lists the targets.
# Some distributions forbid Go to fetch the version that go.mod asks for. A go.work in a parent folder knows nothing of this
# module. Without -buildvcs=false, Go fails in a clone that another user owns.
export GOTOOLCHAIN := auto
export GOWORK := off
export GOFLAGS += -buildvcs=false
export SAM_CLI_TELEMETRY := 0

# The race detector needs cgo. golangci-lint must be built with the Go of this module, or it could not read its code.
RACE = $(if $(filter 1,$(shell GOTOOLCHAIN=auto go env CGO_ENABLED)),-race)
LINT = GOTOOLCHAIN=$$(go env GOVERSION)+auto go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

# `go run` would leave its program behind when it is terminated.
BIN = $${XDG_CACHE_HOME:-$$HOME/.cache}/plant-store/bin

.PHONY: help run test check contract dynamodb

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## serve on 127.0.0.1:8080, in memory (ADDR=host:port)
	go build -o "$(BIN)/" ./cmd/local
	@exec "$(BIN)/local" -addr "$${ADDR:-127.0.0.1:8080}"

# -count=1, because Go does not see that the tests depend on the programs that they build.
test: ## run every test, with DynamoDB Local where it can be started
	@exec tools/dynamodb go test -count=1 $(RACE) ./...

check: ## run the linters and every test
	go mod tidy -diff
	$(LINT) fmt --diff
	$(LINT) run --allow-parallel-runners
	sam validate --lint
	$(MAKE) --no-print-directory test

contract: ## check a deployment (URL=... TOKEN=...; creates plants with random ids)
	@CONTRACT_URL="$$URL" CONTRACT_TOKEN="$$TOKEN" go test -count=1 -run '^TestContract$$' -v ./test/contract

dynamodb: ## serve DynamoDB Local on port 8000, for sam local
	go build -o "$(BIN)/" ./tools/sample
	@exec tools/dynamodb --port 8000 "$(BIN)/sample"

# `sam build` runs this, for Lambda's machine and not for the caller's. With cgo, a function would need the C library of the
# machine that built it, and without mode 755, Lambda could not start it.
build-%Function:
	GOFLAGS=-buildvcs=false GOOS=linux GOARCH=amd64 GOAMD64=v1 CGO_ENABLED=0 \
		go build -trimpath -tags lambda.norpc -ldflags '-s -w' \
		-o "$$ARTIFACTS_DIR/bootstrap" ./cmd/$$(echo $* | tr A-Z a-z)
	chmod 755 "$$ARTIFACTS_DIR/bootstrap"
