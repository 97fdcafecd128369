.PHONY: aws
aws: ## start a local AWS on 127.0.0.1:4566, for make deploy ENV=local, with neither Docker nor an account (PORT=4566)
	@exec tools/local/aws --port "$${PORT:-4566}"

UNTESTED += local
