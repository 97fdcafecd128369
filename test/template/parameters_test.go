package template

import (
	"regexp"
	"testing"
)

// conditionRows has the conditions and the rules of template.yaml, which SAM's own evaluator evaluates.
var conditionRows = []struct {
	name, parameters string
	want             string // the conditions that are met, and the rules that are not
}{
	{"without parameters, nothing is met", "", ""},
	{"staging is guarded", "Stage=staging", "Guarded"},
	{"production is guarded and needs an alarm topic", "Stage=production", "Guarded not ProductionNotifies"},
	{"production has an alarm topic", "Stage=production AlarmTopic=a", "Guarded HasAlarmTopic"},
	{"a domain needs a certificate", "DomainName=a", "HasDomain not DomainNeedsCertificate"},
	{"a domain has a certificate", "DomainName=a CertificateArn=b", "HasDomain"},
	{"a certificate waits for its domain", "CertificateArn=b", ""},
	{"without a domain, AWS's own address stays open", "DefaultAddress=closed", "Closed not ClosedNeedsDomain"},
	{"a domain replaces AWS's own address", "DefaultAddress=closed DomainName=a CertificateArn=b", "Closed HasDomain"},
	{"an issuer needs an audience", "TokenIssuer=a", "not IssuerNeedsAudience"},
	{"an audience needs an issuer", "TokenAudience=a", "not IssuerNeedsAudience"},
	{"an issuer has an audience", "TokenIssuer=a TokenAudience=b", ""},
	{"pages have an origin", "AllowedOrigins=a", "HasAllowedOrigins"},
	{"roles have a boundary", "PermissionsBoundary=a", "HasBoundary"},
	{"functions have a reservation", "ReservedConcurrency=1", "HasReservation"},
	{"functions are traced", "Tracing=Active", "Traced"},
}

// TestConditions checks which conditions are met, and which rules are broken.
func TestConditions(t *testing.T) {
	verdicts := translated(t).Verdicts
	for i, row := range conditionRows {
		if verdicts[i] != row.want {
			t.Errorf("%s: with %q, SAM says %q, want %q", row.name, row.parameters, verdicts[i], row.want)
		}
	}
}

// TestPatterns checks what the parameters that let somebody in may be.
func TestPatterns(t *testing.T) {
	const role = "deploy/role.yaml"
	for _, row := range []struct {
		name                    string
		stack, parameter, value string
		want                    bool
	}{
		{"GitHub's jobs of an environment deploy", role, "Subject", "repo:owner@1/repository@2:environment:staging", true},
		{"its other jobs do not", role, "Subject", "repo:owner/repository:pull_request", false},
		{"the role deploys a stack", role, "StackName", "plant-store-staging", true},
		{"it deploys no other", role, "StackName", "*", false},
		{"the keys of an issuer are fetched over TLS", gradual, "TokenIssuer", "https://issuer.example/realms/a", true},
		{"and in no other way", gradual, "TokenIssuer", "http://issuer.example", false},
	} {
		pattern := regexp.MustCompile(translated(t).Stacks[row.stack].Nodes["Parameters/"+row.parameter+".AllowedPattern"])
		if got := pattern.MatchString(row.value); got != row.want {
			t.Errorf("%s: %s may be %q = %t, want %t", row.name, row.parameter, row.value, got, row.want)
		}
	}
}
