package template

import "testing"

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
	// part: jwt {
	{"an issuer needs an audience", "TokenIssuer=a", "not IssuerNeedsAudience"},
	{"an audience needs an issuer", "TokenAudience=a", "not IssuerNeedsAudience"},
	{"an issuer has an audience", "TokenIssuer=a TokenAudience=b", ""},
	// }
	{"pages have an origin", "AllowedOrigins=a", "HasAllowedOrigins"}, // part: cors
	{"roles have a boundary", "PermissionsBoundary=a", "HasBoundary"},
	{"functions have a reservation", "ReservedConcurrency=1", "HasReservation"},
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
