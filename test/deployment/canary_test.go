package deployment

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

const buildOutput = "Stacks[0].Outputs[?OutputKey=='Build'].OutputValue"

// canaryClaims are about what a gradual deployment by the role does with a bad build. The one before was gradual
// too, so CloudFormation rolls back by CodeDeploy.
var canaryClaims = []claim{
	{name: "ErrorsAlarm rolls a bad build back, and no other alarm does", notLocal: "it has neither CodeDeploy nor alarms on metric math", check: func(r *rehearsal, t *testing.T) string {
		r.edit(t, "internal/api/createplant.go", "p, err := plant.Decode(body)", "panic(r.RouteKey)\n\tp, err := plant.Decode(body)")
		before := r.aws(t, buildOutput, "cloudformation", "describe-stacks", "--stack-name", rehearsalStack)
		stop := r.keepPosting(t, `{"id":-5,"name":"Canary"}`)
		defer stop()
		r.calm(t)
		began := time.Now()
		output, err := r.deploy(t, "5555555 panics", "deploy/stack", "rehearsal", "gradual")
		stop()
		took := time.Since(began).Round(time.Second)
		r.expect(t, err != nil, "the deployment succeeds: %s", output)
		status := r.state(t)
		r.expect(t, status == "UPDATE_ROLLBACK_COMPLETE", "the stack is %s", status)
		after := r.aws(t, buildOutput, "cloudformation", "describe-stacks", "--stack-name", rehearsalStack)
		r.expect(t, after == before, "the stack has the build %s, want %s", after, before)
		for alarm, want := range map[string]bool{"ErrorsAlarm": true, "DegradedAlarm": false, "RefusalsAlarm": false} {
			r.expect(t, r.hasFired(t, alarm, began) == want, "%s has fired: %t, want %t", alarm, !want, want)
		}
		return "rolled back in " + took.String()
	}},
	{name: "the contract test cancels a bad build while the stack is updated", check: func(r *rehearsal, t *testing.T) string {
		if r.isLocal { // where no canary makes the update take its time
			r.edit(t, "template.yaml", "\nResources:\n", waits)
		}
		before := r.aws(t, buildOutput, "cloudformation", "describe-stacks", "--stack-name", rehearsalStack)
		r.edit(t, "internal/api/service.go", "answer.StatusCode = http.StatusBadRequest", "answer.StatusCode = http.StatusForbidden")
		r.calm(t)
		began := time.Now()
		output, err := r.deploy(t, "6666666 other-status", "deploy/deploy", "rehearsal", "gradual")
		r.expect(t, err != nil && strings.Contains(output, "The update was rolled back"), "%v: %s", err, output)
		shown := r.must(t, "deploy/status", rehearsalStack, "--test")
		for _, line := range []string{rehearsalStack + ": UPDATE_ROLLBACK_COMPLETE; ", "build                " + before + "\n", testPassed} {
			r.expect(t, strings.Contains(shown, line), "deploy/status shows %s, want %q in it", shown, line)
		}
		return "rolled back in " + time.Since(began).Round(time.Second).String()
	}},
	{name: "after an alias was moved by hand, a gradual deployment fails, and one at once succeeds", notLocal: "it has no CodeDeploy", check: func(r *rehearsal, t *testing.T) string {
		r.goOn(t)
		function := r.name(t, "CreatePlantFunction")
		versions := strings.Fields(r.aws(t, "Versions[].Version", "lambda", "list-versions-by-function", "--function-name", function))
		oldest := "1"
		if len(versions) > 1 {
			oldest = versions[1] // after $LATEST
		}
		r.aws(t, "FunctionVersion", "lambda", "update-alias", "--function-name", function, "--name", "live",
			"--function-version", oldest, "--routing-config", "AdditionalVersionWeights={}")
		r.edit(t, "environments/shared.yaml", "Memory: 256", "Memory: 512") // as in the stack, so the authorizer does not change
		r.edit(t, "cmd/createplant/main.go", "func main() {", "func main() {\n\tlog.Print(\"another version\")")
		output, err := r.deploy(t, "7777777 gradual", "deploy/stack", "rehearsal", "gradual")
		r.expect(t, err != nil, "the gradual deployment succeeds: %s", output)
		if err == nil && !r.dry {
			return "the gradual deployment succeeded"
		}
		reasons := r.aws(t, "StackEvents[?ResourceType=='AWS::Lambda::Alias' && ResourceStatus=='UPDATE_FAILED'].ResourceStatusReason | [0]",
			"cloudformation", "describe-stack-events", "--stack-name", rehearsalStack, "--no-paginate")
		status := r.goOn(t)
		output, err = r.deploy(t, "7777777 at-once", "deploy/stack", "rehearsal", "at-once")
		r.expect(t, err == nil, "the deployment at once: %v %s", err, output)
		return status + ": " + reasons
	}},
}

// waits are resources with which an update waits when its functions are live, until it is cancelled.
const waits = `
Resources:
  Handle: {Type: AWS::CloudFormation::WaitConditionHandle}
  Wait:
    Type: AWS::CloudFormation::WaitCondition
    DependsOn: [AuthorizerFunctionAliaslive, CreatePlantFunctionAliaslive]
    Properties: {Handle: !Ref Handle, Timeout: '600'}

`

// goOn waits until no alarm fires, and leads the stack out of a roll back that has failed, without the resources that
// cannot be rolled back. It returns the state that the stack was in.
func (r *rehearsal) goOn(t *testing.T) (status string) {
	t.Helper()
	r.calm(t)
	status = r.state(t)
	if !r.dry && status != "UPDATE_ROLLBACK_FAILED" {
		return status
	}
	failed := []string{"CreatePlantFunctionAliaslive"}
	if !r.dry {
		failed = strings.Fields(r.aws(t, "StackResources[?ResourceStatus=='UPDATE_FAILED'].LogicalResourceId",
			"cloudformation", "describe-stack-resources", "--stack-name", rehearsalStack))
	}
	skip := append([]string{"cloudformation", "continue-update-rollback", "--stack-name", rehearsalStack, "--resources-to-skip"}, failed...)
	r.aws(t, "ResponseMetadata", skip...)
	r.until(t, time.Hour, func() bool { return r.state(t) == "UPDATE_ROLLBACK_COMPLETE" })
	return status
}

// state returns the state of the stack.
func (r *rehearsal) state(t *testing.T) string {
	t.Helper()
	return r.aws(t, "Stacks[0].StackStatus", "cloudformation", "describe-stacks", "--stack-name", rehearsalStack)
}

// deploy deploys a build as GitHub's role, by a script of deploy/, when no alarm fires: CodeDeploy would refuse.
func (r *rehearsal) deploy(t *testing.T, build string, command ...string) (output string, err error) {
	t.Helper()
	r.goOn(t)
	if r.dry {
		return "", nil
	}
	return r.run(t, append(append(r.assume(t), roleUploads, "BUILD="+build), command...)...)
}

// calm waits until no alarm of the stack fires, but for ExpiredAlarm, which fires for an hour and rolls nothing back.
func (r *rehearsal) calm(t *testing.T) {
	t.Helper()
	r.until(t, 30*time.Minute, func() bool {
		return r.aws(t, "length(MetricAlarms[?!contains(AlarmName, 'ExpiredAlarm')])", "cloudwatch", "describe-alarms", "--alarm-name-prefix", rehearsalStack+"-", "--state-value", "ALARM") == "0"
	})
}

// hasFired reports whether an alarm of the stack has fired since a time.
func (r *rehearsal) hasFired(t *testing.T, alarm string, since time.Time) bool {
	t.Helper()
	count := r.aws(t, "length(AlarmHistoryItems[?contains(HistorySummary, 'to ALARM')])", "cloudwatch", "describe-alarm-history",
		"--alarm-name", r.name(t, alarm), "--history-item-type", "StateUpdate", "--start-date", since.UTC().Format(time.RFC3339))
	return count != "" && count != "0"
}

// keepPosting sends a body twice a second, with the same key, until it is stopped.
func (r *rehearsal) keepPosting(t *testing.T, body string) (stop func()) {
	t.Helper()
	stopped, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		header := http.Header{"Authorization": {"Bearer " + r.token}, "Content-Type": {"application/json"}, "Idempotency-Key": {"rehearsal"}}
		for !r.dry {
			select {
			case <-stopped:
				return
			case <-time.After(500 * time.Millisecond):
				_, _, _ = r.send(t, http.MethodPost, "/plants", header, body) // what comes is in the log
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(stopped)
		<-done
	})
}
