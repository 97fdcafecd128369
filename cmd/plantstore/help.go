package main

const description = `Serve the Plant Store on this machine, and administer its tokens. For more examples: plantstore COMMAND --help.

    plantstore serve                       # keeps everything in memory; prints a token
    plantstore token issue --stack plant-store-dev --subject alice --ttl 90d
    plantstore token list --stack plant-store-dev

Exit status: 0 success, 1 failure, 2 usage error. Results go to standard output, everything else to standard error.`

// wrongCall is a usage error: it says what is wrong. The exit status is 2.
type wrongCall string

func (w wrongCall) Error() string { return string(w) }

// ExitCode implements [kong.ExitCoder].
func (wrongCall) ExitCode() int { return 2 }

// examples returns what the help of each command shows, by the
// command's last word.
func examples() map[string]string {
	return map[string]string{
		"serve": `
    plantstore serve                       # keeps everything in memory; prints a token
    plantstore serve --addr 127.0.0.1:8081
    plantstore serve --endpoint-url http://127.0.0.1:8000`,
		"issue": `
    plantstore token issue --stack plant-store-dev --subject alice --ttl 90d
    TOKEN=$(plantstore token issue --table tokens --subject ci --ttl 1h)

The token alone goes to standard output. The table keeps only its SHA-256, so the token cannot be shown again.`,
		"list": `
    plantstore token list --stack plant-store-dev
    plantstore token list --table tokens --output json | jq '.[] | select(.state != "valid")'

The state is valid, expires soon (within 7 days), expired or revoked.`,
		"revoke": `
    plantstore token revoke --stack plant-store-dev 0a1B2c3D4e5F
    plantstore token revoke --stack plant-store-dev - <leaked.txt

The second form reads the token itself. Do not give it as an argument: other users of the machine see those.`,
		"create": `
    plantstore tables create --endpoint-url http://127.0.0.1:8000`,
	}
}
