"""The parts of this repository that a clone can do without.

A part is folders and files, and what other files have for it:

- names: of parameters and the like. A part takes out the entry of YAML with such a name, and each row
  of a table in Go with one.
- sections of documents, by their headings.
- marked lines: see marks in without.py.
- uses of a package that leaves, in Go: its import, and each statement that calls it, with the check of
  its error.
"""
import dataclasses


@dataclasses.dataclass
class Part:
    paths: list  # of git, with a slash at the end of a folder
    words: str  # a pattern of what a sentence about the part has
    names: list = dataclasses.field(default_factory=list)
    sections: dict = dataclasses.field(default_factory=dict)  # file to headings


PARTS = {
    "jwt": Part(
        paths=["internal/jwt/", "cmd/*/jwt_test.go", "test/template/jwt_test.go"],
        names=["TokenIssuer", "TokenAudience", "IssuerNeedsAudience", "TOKEN_ISSUER", "TOKEN_AUDIENCE"],
        sections={"docs/operations.md": ["An identity provider"], "SECURITY.md": ["JWTs"]},
        words=r"JWT|internal/jwt|identity provider|\b[Ii]ssuers?\b|TokenIssuer|TokenAudience",
    ),
    "page": Part(
        paths=["internal/page/", "cmd/plantstore/page_test.go", "cmd/plantstore/page_cors_test.go", "docs/page.png"],
        words=r"internal/page|page\.png|\bthe page of|\bchromium|chromedp|Swagger",
    ),
    "cors": Part(
        paths=["internal/cors/", "cmd/plantstore/cors_test.go", "cmd/plantstore/page_cors_test.go", "test/deployment/cors_test.go"],
        names=["AllowedOrigins", "HasAllowedOrigins", "CorsConfiguration"],
        words=r"\bCORS\b|rs/cors|AllowedOrigins|ALLOW_ORIGIN|allowed origin|[Oo]ther origins\b|preflight",
    ),
    "bench": Part(
        paths=["tools/bench/"],
        words=r"[Bb]enchmark|make bench|tools/bench",
    ),
    "mutation": Part(
        paths=["tools/mutation/", "test/commands/mutation_test.go"],
        words=r"[Mm]utation|make mutate|gremlins",
    ),
    "local-aws": Part(
        paths=[
            "test/deployment/", "tools/local/aws*", "tools/local/greet", "tools/requirements/aws.txt",
            "environments/local.yaml",
        ],
        sections={"docs/operations.md": ["Rehearsal"]},
        words=r"make aws|[Ll]ocal AWS|tools/local/aws|ministack|ENV=local|[Rr]ehears|DEPLOYMENT|test/deployment|plant-store-local",
    ),
    "github": Part(
        paths=[
            ".github/workflows/deploy.yml", "deploy/role.yaml", "deploy/workflow_test.go",
            "test/template/deployrole_test.go", "test/template/deployworkflow_test.go",
            # The rehearsal deploys with the role.
            "test/deployment/canary_test.go", "test/deployment/cors_test.go", "test/deployment/deletion_test.go",
            "test/deployment/deployment_test.go",
            "test/deployment/gateway_test.go", "test/deployment/operation_test.go", "test/deployment/rehearsal_test.go",
            "test/deployment/rehearse*", "test/deployment/removal_test.go", "test/deployment/restore_test.go",
        ],
        sections={
            "docs/operations.md": ["Deploy from GitHub", "Rehearsal"],
            "docs/emergencies.md": ["The deployment role is stolen"],
            "SECURITY.md": ["The deployment role"],
        },
        words=r"GitHub|GITHUB_(?!BASE)|\bgh (api|workflow)|deploy\.yml|role\.yaml|deployment role|[Rr]ehears",
    ),
    "restore": Part(
        paths=["deploy/restore", "deploy/restore_test.go", "deploy/restore_aws_test.go", "test/deployment/restore_test.go"],
        sections={"docs/emergencies.md": ["Plants are lost", "A table is gone", "The stack is deleted", "Run a restore"]},
        words=r"deploy/restore|\b[Rr]estor(e|es|ed|ing)\b",
    ),
}


def chosen(names):
    """Returns the parts that a list of names, with commas between them, names."""
    unknown = [name for name in names.split(",") if name not in PARTS]
    if unknown:
        raise ValueError(f"there is no part {unknown[0]}; parts: {','.join(PARTS)}")
    return {name: PARTS[name] for name in PARTS if name in names.split(",")}
