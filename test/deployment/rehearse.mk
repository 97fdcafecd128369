.PHONY: rehearse
rehearse: ## deploy to an AWS account, show what is promised, write rehearsal.md, remove all (ENV=local in a local AWS; YES=1 without a question)
	@test/deployment/rehearse "$$(test "$$ENV" = local && echo local || echo account)"
