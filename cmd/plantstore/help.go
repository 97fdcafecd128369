package main

const description = `Serve the Plant Store on this machine, and manage bearer tokens here or in AWS.

    plantstore serve                       # everything in memory; prints a token
    plantstore token issue --stack plant-store-dev --subject alice --ttl 90d
    plantstore token list --stack plant-store-dev

Results are printed to standard output, messages to standard error.

Exit status: 0 success, 1 failure, 2 usage error.`

// usageError is an error in the command line. The exit status is 2.
type usageError string

func (e usageError) Error() string { return string(e) }

// ExitCode implements [kong.ExitCoder].
func (usageError) ExitCode() int { return 2 }

// examples are in the help of each command, by the last word of the command.
var examples = map[string]string{
	"serve": `
    plantstore serve                       # everything in memory; prints a token
    plantstore serve --addr 127.0.0.1:8081
    SERVE_TOKEN=... plantstore serve       # accepts the token of an earlier run
    plantstore serve --endpoint-url http://127.0.0.1:8000`,
	"issue": `
    plantstore token issue --stack plant-store-dev --subject alice --ttl 90d
    TOKEN=$(plantstore token issue --table tokens --subject ci --ttl 1h)

Only the token is printed to standard output. The table stores its id and SHA-256 digest but not its secret, so the token cannot be shown again.`,
	"list": `
    plantstore token list --stack plant-store-dev
    plantstore token list --stack plant-store-dev --expiring 14d
    plantstore token list --table tokens --output json | jq '.[] | select(.state != "valid")'

The state is "valid", "expired" or "revoked".`,
	"revoke": `
    plantstore token revoke --stack plant-store-dev 0a1B2c3D4e5F
    plantstore token revoke --stack plant-store-dev - <leaked.txt
    plantstore token list --stack plant-store-dev -o json | jq -r '.[] | select(.state != "revoked" and .subject == "alice").id' | tr '\n' '\0' | xargs -0rn1 plantstore token revoke --stack plant-store-dev --

The second form reads the token itself and takes the id out of it. Do not give it as an argument: other users of the machine see those.

The third form revokes all tokens of a subject. For all that were issued since a date, put .created_at >= "2026-11-20" in place of the subject. It goes on past a token that cannot be revoked. Repeat it until it succeeds.`,
	"create": `
    plantstore tables create --endpoint-url http://127.0.0.1:8000`,
}
