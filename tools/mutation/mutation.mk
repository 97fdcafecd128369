GREMLINS = $(GO_RUN) github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0

# The packages with tests, but for budget: no mutation can reach its constants.
MUTATED = $(filter-out budget,$(sort $(notdir $(patsubst %/,%,$(dir $(wildcard internal/*/*_test.go))))))

.PHONY: mutate
mutate: ## change internal's code in many small ways, which its tests must notice (some minutes; PACKAGE=plant)
	@status=0; for package in $${PACKAGE:-$(MUTATED)}; do \
		tools/local/dynamodb $(GREMLINS) --config tools/mutation/gremlins.yaml unleash "./internal/$$package" || status=1; \
	done; exit $$status

soak: mutate
