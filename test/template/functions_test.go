package template

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plantstore/internal/budget"
	"plantstore/test/processtest"
	"plantstore/test/runtimeapi"
)

// TestFunctions runs each function as Lambda does, with the variables that the template
// declares, on its sample events.
func TestFunctions(t *testing.T) {
	t.Parallel()
	s := production(t)
	filters := properties[filter](t, s, "AWS::Logs::MetricFilter")
	for name, f := range properties[function](t, s, "AWS::Lambda::Function") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := strings.ToLower(strings.TrimSuffix(name, "Function"))
			binary := processtest.Build(t, "cmd/"+folder)
			events, _ := filepath.Glob("events/" + folder + "/*.json") // the pattern is well-formed
			if len(events) == 0 {
				t.Fatalf("events/%s has no sample event: add one, as events/README.md says", folder)
			}
			store := startStore(t)
			variable, _ := f.table()
			environment := append(f.texts(), processtest.Environment(store.URL, "BUILD=b1")...)

			t.Run("without its table, it ends with status 1 and names the variable", func(t *testing.T) {
				log, err := invoke(t, binary, environment, events[:1])
				if !strings.HasSuffix(fmt.Sprint(err), "exit status 1") {
					t.Errorf("it ends with %v, want exit status 1", err)
				}
				if !strings.Contains(log, variable+" is not set") || !strings.Contains(log, `"level":"ERROR"`) {
					t.Errorf("its log is %s, want an error with the variable %s", log, variable)
				}
			})
			log, err := invoke(t, binary, append(environment, variable+"=table"), events)
			if err != nil {
				t.Fatalf("%v: %v\n%s", events, err, log)
			}
			t.Run("it opens one connection before the first event", func(t *testing.T) {
				if store.connections != 1 {
					t.Errorf("it opens %d connections", store.connections)
				}
			})
			t.Run("it calls what its role allows", func(t *testing.T) {
				allowed := checkRole(t, s, f)
				slices.Sort(store.actions)
				if called := slices.Compact(store.actions); !slices.Equal(called, []string{allowed}) {
					t.Errorf("it calls %v, and its role allows %s", called, allowed)
				}
			})
			t.Run("it logs a line for each event, with Lambda's request id and the build", func(t *testing.T) {
				lines := strings.Count(log, `"lambda_request_id":"8476a536-`)
				if lines != len(events) || strings.Count(log, `"build":"b1"`) != lines {
					t.Errorf("%d events are logged as %s", len(events), log)
				}
			})
			t.Run("it logs each field that a metric filter reads", func(t *testing.T) {
				for filterName, f := range filters {
					if f.LogGroupName.Ref != "Log" {
						continue // the access log is the gateway's
					}
					for _, field := range f.fields() {
						name := strings.TrimPrefix(field, "$.")
						if name == "expires_in_days" {
							continue // none of the events' tokens expires soon
						}
						if !strings.Contains(log, `"`+name+`":`) {
							t.Errorf("%s reads %s, which the log %s lacks", filterName, name, log)
						}
					}
				}
			})
		})
	}
}

// TestTimeouts checks that Lambda stops a function a second after its budget. TestDeadline, in
// internal/api, checks that a function answers before that.
func TestTimeouts(t *testing.T) {
	for name, f := range properties[function](t, production(t), "AWS::Lambda::Function") {
		want := budget.OperationTimeout
		if name == "AuthorizerFunction" {
			want = budget.AuthorizerTimeout
		}
		if got := time.Duration(f.Timeout) * time.Second; got != want {
			t.Errorf("%s has %v, want %v", name, got, want)
		}
	}
}

// TestIssuer checks that the authorizer gets the issuer and the audience of JWTs from the
// parameters, which accept the issuers of providers.
func TestIssuer(t *testing.T) {
	variables := properties[function](t, production(t), "AWS::Lambda::Function")["AuthorizerFunction"].Environment.Variables
	for variable, parameter := range map[string]string{"TOKEN_ISSUER": "TokenIssuer", "TOKEN_AUDIENCE": "TokenAudience"} {
		if got := variables[variable]; !equal(got, ref{parameter}) {
			t.Errorf("%s is %v, want the parameter %s", variable, got, parameter)
		}
	}
	pattern := production(t).Parameters["TokenIssuer"].AllowedPattern
	for _, issuer := range []string{"", "https://example.eu.auth0.com/", "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Ab1"} {
		if !regexp.MustCompile(pattern).MatchString(issuer) {
			t.Errorf("the parameter TokenIssuer refuses %q by %s", issuer, pattern)
		}
	}
}

// A store stands for DynamoDB, in which each write succeeds and each read finds nothing.
type store struct {
	*httptest.Server
	mutex       sync.Mutex
	connections int      // requests that only open a connection
	actions     []string // operations, by their names in a policy
}

func startStore(t *testing.T) *store {
	t.Helper()
	s := new(store)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		if r.Method == http.MethodGet {
			s.connections++
		} else {
			_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
			s.actions = append(s.actions, "dynamodb:"+operation)
		}
		fmt.Fprint(w, "{}")
	}))
	t.Cleanup(s.Close)
	return s
}

// table returns the variable with the name of a function's table, and the table.
func (f function) table() (variable, table string) {
	for name, value := range f.Environment.Variables {
		reference, _ := value.(map[string]any)
		if strings.HasSuffix(name, "_TABLE") {
			table, _ = reference["Ref"].(string)
			return name, table
		}
	}
	return "", ""
}

// texts returns the variables of a function whose values are texts in the template.
func (f function) texts() (variables []string) {
	for name, value := range f.Environment.Variables {
		if text, ok := value.(string); ok {
			variables = append(variables, name+"="+text)
		}
	}
	return variables
}

// invoke starts a function, hands it the events in files, stops it and returns its log.
func invoke(t *testing.T, binary string, environment, files []string) (log string, err error) {
	t.Helper()
	f, err := runtimeapi.Start(binary, environment...)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if _, _, err = f.Invoke([]byte(read(t, file)), 10*time.Second); err != nil {
			break
		}
	}
	f.Stop()
	return f.Log.String(), err
}
