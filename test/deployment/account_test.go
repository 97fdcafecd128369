package deployment

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestAccount deploys deploy/account.yaml without what the local AWS lacks, and checks which messages the pager
// gets: those of two alarms, when they fire and when they end.
func TestAccount(t *testing.T) {
	needs(t, "aws")
	local := start(t)
	path := filepath.Join(local.folder, "deploy/account.yaml")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Resources map[string]yaml.Node `yaml:"Resources"`
		Others    map[string]yaml.Node `yaml:",inline"`
	}
	if err := yaml.Unmarshal(content, &template); err != nil {
		t.Fatal(err)
	}
	delete(template.Resources, "Budget")
	delete(template.Resources, "Tables")
	content, err = yaml.Marshal(template)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	const account = "plant-store-account"
	local.must(t, "aws", "cloudformation", "deploy", "--stack-name", account, "--template-file", "deploy/account.yaml",
		"--capabilities", "CAPABILITY_IAM", "--parameter-overrides", "Mail=ops@example.com", "MonthlyBudget=50", "Pager=https://pager.example")
	topic := local.output(t, account, "AlarmTopic")
	pager := local.resource(t, account, "PagerSubscription")
	filter := local.query(t, "Attributes.FilterPolicy", "sns", "get-subscription-attributes", "--subscription-arn", pager)

	// The local AWS delivers to a queue what passes the pager's filter. For sqs, the CLI ignores AWS_ENDPOINT_URL.
	endpoint := "http://127.0.0.1:" + local.port
	url := local.query(t, "QueueUrl", "sqs", "create-queue", "--endpoint-url", endpoint, "--queue-name", "pager",
		"--attributes", `{"Policy":"{\"Statement\":[{\"Effect\":\"Allow\",\"Principal\":\"*\",\"Action\":\"sqs:SendMessage\",\"Resource\":\"*\"}]}"}`)
	queue := local.query(t, "Attributes.QueueArn", "sqs", "get-queue-attributes", "--endpoint-url", endpoint, "--queue-url", url, "--attribute-names", "QueueArn")
	attributes := fmt.Sprintf(`{"RawMessageDelivery":"true","FilterPolicyScope":"MessageBody","FilterPolicy":%q}`, filter)
	local.must(t, "aws", "sns", "subscribe", "--topic-arn", topic, "--protocol", "sqs", "--notification-endpoint", queue, "--attributes", attributes)
	tests := []struct {
		name    string
		message string
		want    bool
	}{
		{name: "ErrorsAlarm fires", message: `{"AlarmName":"plant-store-production-ErrorsAlarm-A1","NewStateValue":"ALARM"}`, want: true},
		{name: "ErrorsAlarm ends", message: `{"AlarmName":"plant-store-production-ErrorsAlarm-A1","NewStateValue":"OK"}`, want: true},
		{name: "DegradedAlarm fires", message: `{"AlarmName":"plant-store-production-DegradedAlarm-A1","NewStateValue":"ALARM"}`, want: true},
		{name: "ExpiredAlarm fires", message: `{"AlarmName":"plant-store-production-ExpiredAlarm-A1","NewStateValue":"ALARM"}`, want: false},
		{name: "a backup fails", message: `{"source":"aws.backup","detail":{"state":"FAILED"}}`, want: false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			local.must(t, "aws", "sns", "publish", "--topic-arn", topic, "--message", test.message)
			got := local.query(t, "Messages[].Body", "sqs", "receive-message", "--endpoint-url", endpoint, "--queue-url", url)
			if arrived := strings.Contains(got, test.message); arrived != test.want {
				t.Errorf("the pager gets %s = %t, want %t", test.message, arrived, test.want)
			}
		})
	}
}
