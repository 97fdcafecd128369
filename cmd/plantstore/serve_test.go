package main

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"

	"plantstore/test/dynamotest"
	"plantstore/test/processtest"
)

// A request that has begun is answered, even if the server is stopping.
func TestServeStops(t *testing.T) {
	t.Parallel()
	server := processtest.Serve(t)
	address := strings.TrimPrefix(server.URL, "http://")
	connection, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close() //nolint:errcheck // its answer is enough
	answers := bufio.NewReader(connection)
	fmt.Fprint(connection, "POST /plants HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
	if line, err := answers.ReadString('\n'); !strings.Contains(line, "100 Continue") {
		t.Fatalf("the server answers %q, %v, want that it reads the body", line, err)
	}
	server.Stop()
	for err == nil { // until it does not listen any more
		_, err = net.Dial("tcp", address)
	}
	fmt.Fprint(connection, "[]")
	rest, _ := io.ReadAll(answers)
	if !strings.Contains(string(rest), `{"error":2001,`) {
		t.Errorf("the server answers %q, want the error 2001", rest)
	}
}

// A server in memory accepts the token of an earlier run, which is in SERVE_TOKEN. It ignores TOKEN, which is a
// variable of clients.
func TestServeToken(t *testing.T) {
	t.Parallel()
	earlier := processtest.Serve(t).Token
	server := processtest.Serve(t, "SERVE_TOKEN="+earlier, "TOKEN=a client's")
	_, got := processtest.Send(t, http.MethodPost, server.URL+"/plants", http.Header{"Authorization": {"Bearer " + earlier}})
	if want := `{"error":1002,`; !strings.HasPrefix(got, want) {
		t.Errorf("POST /plants = %s, want %s", got, want)
	}
	if server.Token != earlier {
		t.Errorf("serve prints the token %q, want %q", server.Token, earlier)
	}
}

// In a local DynamoDB, serve creates the tables that the other commands ask for, unless they exist. The command
// that it prints issues a token there.
func TestServeCreatesTables(t *testing.T) {
	t.Parallel()
	run := rand.Text() // the tables stay
	environment := []string{"AWS_ENDPOINT_URL_DYNAMODB=" + dynamotest.Endpoint(t), "PLANTS_TABLE=p-" + run, "TOKENS_TABLE=t-" + run}
	plantstore := newTool(t, environment...)
	plantstore.check(t, "token list", result{status: 1, stderr: ".*the table does not exist: t-" + run + "; .*`plantstore serve`.*\n"})
	processtest.Serve(t, environment...)
	server := processtest.Serve(t, environment...)
	_, issue, _ := strings.Cut(server.Greeting, os.Args[0]+" ")
	newTool(t).check(t, issue, result{stdout: "pst_.*\n", stderr: "Token .* for NAME, .*\n"})
	plantstore.check(t, "token list", result{stdout: header + ".* NAME .*\n"})
}

// README.md shows the command that serve prints, and what that prints when it is run, run again, and run with another
// key. The command sends the token to no proxy.
func TestReadme(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(content)
	server := processtest.Serve(t)
	_, command, _ := strings.Cut(server.Greeting, "  curl")
	command = "curl " + strings.TrimSpace(command)
	shown := strings.NewReplacer(server.URL, "http://127.0.0.1:8080", server.Token, "<ACCESS_TOKEN>").Replace(command)
	if !strings.Contains(readme, "\n"+shown+"\n") {
		t.Errorf("serve prints %q, which README.md lacks", shown)
	}
	another := strings.Replace(command, "Idempotency-Key: first", "Idempotency-Key: second", 1)
	for _, typed := range []string{command, command, another} {
		curl := exec.CommandContext(t.Context(), "sh", "-c", typed)
		curl.Env = append(os.Environ(), "http_proxy=http://127.0.0.1:1", "no_proxy=")
		printed, err := curl.Output()
		if err != nil {
			t.Fatal(err)
		}
		if want := "```json\n" + string(printed) + "```"; !strings.Contains(readme, want) {
			t.Errorf("%s prints %s, and README.md lacks %q", typed, printed, want)
		}
	}
}

// serve does not start with a malformed SERVE_TOKEN.
func TestMalformedServeToken(t *testing.T) {
	t.Parallel()
	want := result{status: 2, stderr: ".*SERVE_TOKEN is not a token .*\n"}
	newTool(t, "SERVE_TOKEN=pst_x").check(t, "serve", want)
}

// A client on this machine can use the address that serve prints.
func TestURLOf(t *testing.T) {
	for _, test := range []struct{ name, listens, want string }{
		{name: "every address", listens: "[::]:8080", want: "http://127.0.0.1:8080"},
		{name: "every address of IPv4", listens: "0.0.0.0:8080", want: "http://127.0.0.1:8080"},
		{name: "an address of IPv6", listens: "[::1]:8080", want: "http://[::1]:8080"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := urlOf(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(test.listens)))
			if got != test.want {
				t.Errorf("urlOf(%s) = %s, want %s", test.listens, got, test.want)
			}
		})
	}
}
