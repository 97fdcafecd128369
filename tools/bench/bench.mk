.PHONY: bench
bench: ## compare the functions with an empty one, on Linux
	tools/bench/run
