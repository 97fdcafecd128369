package deploy

import (
	"os/exec"
	"testing"

	"plantstore/test/processtest"
)

// TestBackups evaluates account.yaml with SAM's own evaluator: the key of the vault, and whether the parameters
// are allowed.
func TestBackups(t *testing.T) {
	t.Parallel()
	const script = `
from samcli.lib.intrinsic_resolver.intrinsic_property_resolver import IntrinsicResolver
from samcli.lib.intrinsic_resolver.intrinsics_symbol_table import IntrinsicsSymbolTable
from samcli.yamlhelper import yaml_parse
for parameters in {}, {"VaultKey": "key"}, {"CopyTo": "vault"}, {"CopyTo": "vault", "VaultKey": "key"}:
    template = yaml_parse(open("account.yaml").read())
    values = {"CopyTo": "", "VaultKey": "", "AWS::NoValue": "none"} | parameters
    resolver = IntrinsicResolver(template, IntrinsicsSymbolTable(template, logical_id_translator=values))
    def value(expression):
        return resolver.intrinsic_property_resolver(expression, ignore_errors=False)
    rule = template["Rules"]["CopyNeedsKey"]
    allowed = not value(rule["RuleCondition"]) or value(rule["Assertions"][0]["Assert"])
    print(parameters, value(template["Resources"]["Vault"]["Properties"]["EncryptionKeyArn"]), allowed)
`
	const want = `{} none True
{'VaultKey': 'key'} key True
{'CopyTo': 'vault'} none False
{'CopyTo': 'vault', 'VaultKey': 'key'} key True
`
	output, err := exec.CommandContext(t.Context(), processtest.Python(t, "sam"), "-c", script).CombinedOutput()
	if err != nil || string(output) != want {
		t.Errorf("parameters, key, allowed = %v\n%s, want\n%s", err, output, want)
	}
}
