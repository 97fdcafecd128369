package deploy

import (
	"cmp"
	"fmt"
	"maps"
	"strings"
	"testing"
)

// statusAWS is a stand-in for the AWS CLI. It prints the file whose name is the operation, and the function or alarms
// asked for.
const statusAWS = `
[ "$1 $2 $3 $AWS_PAGER" = "--cli-connect-timeout=5 --cli-read-timeout=20 --output=json " ] || exit 2
[ "$AWS_DEFAULT_REGION" = eu-central-1 ] || exit 2 # AWS_REGION, as version 1 of the AWS CLI reads it
file=$5
for argument; do
	case $argument in --function-name=* | --alarm-name-prefix=* | --table-name=*) file=$file.${argument#*=} ;; esac
done
if ! cat "$(dirname "$0")/../answers/$file" 2>/dev/null; then
	echo >&2
	echo "An error occurred (AccessDenied) when calling $file" >&2
	exit 254
fi
`

// statusAnswers are those of AWS for a stack in which a second build has all traffic: of the authorizer it changed the
// code, and then, with a third version, a parameter; of createplant nothing.
var statusAnswers = map[string]string{
	"describe-stacks": `{"Stacks": [{"StackId": "arn:aws:cloudformation:eu-central-1:123456789012:stack/plants/1", "StackName": "plants",
		"StackStatus": "UPDATE_COMPLETE", "CreationTime": "2026-01-01T00:00:00Z", "LastUpdatedTime": "2026-11-22T12:00:00Z",
		"Outputs": [{"OutputKey": "Url", "OutputValue": "https://x"}, {"OutputKey": "Build", "OutputValue": "b2"}]}]}`,
	"describe-stack-resources": `{"StackResources": [
		{"ResourceType": "AWS::Lambda::Alias", "LogicalResourceId": "AuthorizerFunctionAliaslive", "PhysicalResourceId": "arn"},
		{"ResourceType": "AWS::CloudWatch::Alarm", "LogicalResourceId": "ErrorsAlarm", "PhysicalResourceId": "plants-ErrorsAlarm-1"},
		{"ResourceType": "AWS::CloudWatch::Alarm", "LogicalResourceId": "X", "PhysicalResourceId": "plants-x"},
		{"ResourceType": "AWS::DynamoDB::Table", "LogicalResourceId": "PlantsTable", "PhysicalResourceId": "t-1"},
		{"ResourceType": "AWS::Lambda::Version", "LogicalResourceId": "V", "PhysicalResourceId": "arn:aws:lambda:eu-central-1:123456789012:function:a-1:10"},
		{"ResourceType": "AWS::Lambda::Function", "LogicalResourceId": "CreatePlantFunction", "PhysicalResourceId": "c-1"},
		{"ResourceType": "AWS::Lambda::Function", "LogicalResourceId": "AuthorizerFunction", "PhysicalResourceId": "a-1"}]}`,
	"get-alias.a-1": `{"FunctionVersion": "10"}`,
	"list-versions-by-function.a-1": `{"Versions": [
		{"Version": "$LATEST", "Environment": {"Variables": {"BUILD": "b2"}}}, {"Version": "8", "Environment": {"Variables": {"BUILD": "b1"}}},
		{"Version": "9", "Environment": {"Variables": {"BUILD": "b2"}}}, {"Version": "10", "Environment": {"Variables": {"BUILD": "b2"}}}]}`,
	"get-alias.c-1": `{"FunctionVersion": "3", "RoutingConfig": {}}`,
	"list-versions-by-function.c-1": `{"Versions": [
		{"Version": "$LATEST", "Environment": {"Variables": {"BUILD": "b1"}}}, {"Version": "3", "Environment": {"Variables": {"BUILD": "b1"}}}]}`,
	"describe-alarms.plants-": `{"MetricAlarms": [{"AlarmName": "plants-ErrorsAlarm-1", "StateValue": "OK"}, {"AlarmName": "plants-x", "StateValue": "INSUFFICIENT_DATA"},
		{"AlarmName": "plants-of-another-stack", "StateValue": "ALARM"}]}`,
	"describe-table.t-1":  `{"Table": {"TableStatus": "ACTIVE", "ItemCount": 3}}`,
	"get-caller-identity": `{"Account": "123456789012"}`,
}

// TestStatus runs deploy/status with a stand-in for AWS.
func TestStatus(t *testing.T) {
	t.Parallel()
	const (
		head = `account              123456789012, eu-central-1
stack                plants: UPDATE_COMPLETE; its last change began 2026-11-22T12:00:00Z
address              https://x
build                b2
`
		alarms = `alarms               0 of 2 fire
`
		denied = "An error occurred (AccessDenied) when calling "
	)
	// A clone may have longer names.
	table := fmt.Sprintf("%-20s %s\n", "PlantsTable", "ACTIVE, 3 items (AWS counts every six hours)")
	authorizer := table + "AuthorizerFunction   version 10: 100 %, build b2\n"
	createplantIs := func(text string) string { return fmt.Sprintf("%-20s %s\n", "CreatePlantFunction", text) }
	createplant := createplantIs("version 3: 100 %, build b1")
	back := func(version, build string) string {
		return fmt.Sprintf("AuthorizerFunction, version %s, build %s:\naws lambda update-alias --function-name a-1 --name live"+
			" --function-version %s --routing-config 'AdditionalVersionWeights={}'\n", version, build, version)
	}
	tests := []struct {
		name    string
		answers map[string]string // that differ; an empty one is refused
		options string            // what is typed; "plants" unless a row says otherwise
		test    string            // the end of deploy/smoke-test
		want    string
		status  int
	}{
		{
			name: "a build that changed one function",
			want: head + authorizer + createplant + alarms,
		},
		{
			name: "the way back from it", options: "plants --back",
			want: head + authorizer + createplant + alarms + "\n" + back("8", "b1"),
		},
		{
			name: "a build is no command",
			answers: map[string]string{
				"describe-stacks":               strings.Replace(statusAnswers["describe-stacks"], `"b2"`, `"b2;touch evil"`, 1),
				"list-versions-by-function.a-1": strings.ReplaceAll(statusAnswers["list-versions-by-function.a-1"], `"b1"`, `"b1 b;touch evil"`),
			},
			options: "plants --back",
			want:    strings.Replace(head, "b2", "unknown", 1) + authorizer + createplant + alarms + "\n" + back("8", "unknown"),
		},
		{
			name: "the ARN of a stack stands for its name", options: "arn:aws:cloudformation:eu-central-1:123456789012:stack/plants/1",
			want: head + authorizer + createplant + alarms,
		},
		{
			name: "a canary in progress, and the builds to go back to",
			answers: map[string]string{
				"get-alias.a-1": `{"FunctionVersion": "10", "RoutingConfig": {"AdditionalVersionWeights": {"11": 0.1}}}`,
				"list-versions-by-function.a-1": strings.Replace(statusAnswers["list-versions-by-function.a-1"], "[",
					`[{"Version": "11", "Environment": {"Variables": {"BUILD": "b3"}}}, `, 1),
			},
			options: "plants --back",
			want: head + table + "AuthorizerFunction   version 10: 90 %, build b2\nAuthorizerFunction   version 11: 10 %, build b3\n" +
				createplant + alarms + "\n" + back("10", "b2") + back("8", "b1"),
		},
		{
			name: "an alarm that fires",
			answers: map[string]string{
				"describe-alarms.plants-": strings.Replace(statusAnswers["describe-alarms.plants-"], `"OK"`, `"ALARM", "StateUpdatedTimestamp": "2026-11-22T12:03:00Z"`, 1),
			},
			want: head + authorizer + createplant +
				"alarms               1 of 2 fire\n                     plants-ErrorsAlarm-1 since 2026-11-22T12:03:00Z\n",
		},
		{
			name:    "the way back while an update runs, and how to cancel it",
			answers: map[string]string{"describe-stacks": strings.Replace(statusAnswers["describe-stacks"], "UPDATE_COMPLETE", "UPDATE_IN_PROGRESS", 1)},
			options: "plants --back",
			want: strings.Replace(head, "COMPLETE", "IN_PROGRESS", 1) + authorizer + createplant + alarms + "\n" + back("8", "b1") +
				"To cancel the update:\naws cloudformation cancel-update-stack --stack-name plants\n",
		},
		{
			name:    "after the aliases were moved back, the version that the stack expects is named, and its build can be chosen too",
			answers: map[string]string{"get-alias.a-1": `{"FunctionVersion": "8"}`},
			options: "plants --back",
			want: head + table + "AuthorizerFunction   version 8: 100 %, build b1; the stack expects version 10\n" + createplant + alarms +
				"\n" + back("10", "b2"),
		},
		{
			name: "in its first creation, a stack has no output, and may have no alias and no function",
			answers: map[string]string{
				"describe-stacks": `{"Stacks": [{"StackId": "arn:aws:cloudformation:eu-central-1:123456789012:stack/plants/1",
					"StackName": "plants", "StackStatus": "CREATE_IN_PROGRESS", "CreationTime": "2026-01-01T00:00:00Z"}]}`,
				"describe-stack-resources": strings.Replace(statusAnswers["describe-stack-resources"], `"PhysicalResourceId": "c-1"`, `"x": ""`, 1),
				"get-alias.a-1":            "",
			},
			want: `account              123456789012, eu-central-1
stack                plants: CREATE_IN_PROGRESS; its last change began 2026-01-01T00:00:00Z
address              none: the first deployment has not succeeded
build                none: the first deployment has not succeeded
` + table + "AuthorizerFunction   " + denied + "get-alias.a-1\n" + createplantIs("not created yet") + alarms,
		},
		{
			name:    "without permission to see resources, the rest is shown, and no build is found",
			answers: map[string]string{"describe-stack-resources": ""},
			options: "plants --back",
			want:    head + "resources            " + denied + "describe-stack-resources\n\nNo other build was found.\n",
		},
		{
			name:    "without permission to see alarms, the rest is shown",
			answers: map[string]string{"describe-alarms.plants-": ""},
			want:    head + authorizer + createplant + "alarms               " + denied + "describe-alarms.plants-\n",
		},
		{
			name:    "an empty answer is reported, and the rest is shown",
			answers: map[string]string{"describe-alarms.plants-": "\n"},
			want:    head + authorizer + createplant + "alarms               the AWS CLI printed no JSON\n",
		},
		{
			name:    "without a stack, the account is shown",
			answers: map[string]string{"describe-stacks": ""},
			want:    "stack                " + denied + "describe-stacks\naccount              123456789012, eu-central-1\n", status: 1,
		},
		{
			name: "what AWS returns is data: no control character is printed, no argument becomes an option, no name a command",
			answers: map[string]string{
				"describe-stack-resources": `{"StackResources": [
					{"ResourceType": "AWS::Lambda::Function", "LogicalResourceId": "F\u001b[2J\u009b\u202e\n", "PhysicalResourceId": "--debug;touch evil"}]}`,
				"describe-alarms.plants-":      `{"MetricAlarms": []}`,
				"get-alias.--debug;touch evil": `{"FunctionVersion": "2"}`,
				"list-versions-by-function.--debug;touch evil": `{"Versions": [{"Version": "$LATEST"}, {"Version": "1"},
					{"Version": "2", "Environment": {"Variables": {"BUILD": "b2"}}}]}`,
			},
			options: "plants --back",
			want: head + "F [2J                version 2: 100 %, build b2\nalarms               0 of 0 fire\n" + `
F [2J   , version 1, build unknown:
aws lambda update-alias --function-name '--debug;touch evil' --name live --function-version 1 --routing-config 'AdditionalVersionWeights={}'
`,
		},
		{
			name:    "version 1 of the AWS CLI prints a time as a number",
			answers: map[string]string{"describe-alarms.plants-": `{"MetricAlarms": [{"AlarmName": "plants-x", "StateValue": "ALARM", "StateUpdatedTimestamp": 1795496690.123}]}`},
			want:    head + authorizer + createplant + "alarms               1 of 1 fire\n" + strings.Repeat(" ", 21) + "plants-x since 2026-11-24T05:04:50Z\n",
		},
		{
			name:    "the test passes",
			options: "plants --test", test: "true",
			want: head + authorizer + createplant + alarms + "test output\ntest                 passed\n",
		},
		{
			name:    "the test fails",
			options: "plants --test", test: "false",
			want: head + authorizer + createplant + alarms + "test output\ntest                 failed, as its output says\n",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			answers := maps.Clone(statusAnswers)
			maps.Copy(answers, test.answers)
			maps.DeleteFunc(answers, func(_, answer string) bool { return answer == "" })
			p := newProject(t, answers, map[string]string{
				"path/aws":          statusAWS,
				"deploy/smoke-test": "[ $1 = plants ] && echo test output && " + test.test,
			})
			arguments := strings.Fields(cmp.Or(test.options, "plants"))
			output, status := p.run(t, append([]string{"deploy/status"}, arguments...), "AWS_PAGER=less")
			if output != test.want || status != test.status {
				t.Errorf("it ends with %d, want %d, and prints\n%s\nwant\n%s", status, test.status, output, test.want)
			}
		})
	}
}
