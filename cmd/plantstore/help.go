package main

const description = `Plant Store: a service that creates plants, and its tokens. Each command shows more examples: plantstore COMMAND --help.

    plantstore serve                       # all in memory, and prints a token
    plantstore token issue --stack plant-store-dev --subject alice --ttl 90d
    plantstore token list --stack plant-store-dev

Exit codes: 0 for done, 1 for what could not be done, 2 for a wrong call. What was asked for goes to standard output, all else to standard error.`

// wrongCall says what is wrong with a call. It ends the command with 2.
type wrongCall string

func (w wrongCall) Error() string { return string(w) }

// ExitCode implements [kong.ExitCoder].
func (wrongCall) ExitCode() int { return 2 }

// examples returns what the help of each command shows, by the
// command's last word.
func examples() map[string]string {
	return map[string]string{
		"serve": `
    plantstore serve                       # all in memory, and prints a token
    plantstore serve --addr 127.0.0.1:8081
    plantstore serve --endpoint-url http://127.0.0.1:8000`,
		"issue": `
    plantstore token issue --stack plant-store-dev --subject alice --ttl 90d
    TOKEN=$(plantstore token issue --table tokens --subject ci --ttl 1h)

Standard output gets the token alone. The table keeps its SHA-256, so nothing can show it again.`,
		"list": `
    plantstore token list --stack plant-store-dev
    plantstore token list --table tokens --output json | jq '.[] | select(.state != "valid")'

The state is valid, expires soon (within 7 days) or expired.`,
		"revoke": `
    plantstore token revoke --stack plant-store-dev 0a1B2c3D4e5F`,
		"create": `
    plantstore tables create --endpoint-url http://127.0.0.1:8000`,
	}
}
