// Package dynamo keeps plants and tokens in DynamoDB.
//
// It promises that a caller learns the truth about a write: every put is
// conditional and carries the key of its request, so that it can be repeated
// until the answer is certain, and it is repeated until the deadline of the
// context. Nothing is ever read to find out.
package dynamo

import (
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/logging"
)

// The waits of one attempt. DynamoDB answers in single milliseconds, so an
// attempt that takes longer than these is given up and repeated: twice within the
// shorter of the functions' timeouts (5 s). The SDK's own values are 30 s to dial
// and none for an answer.
const (
	dialTimeout    = time.Second
	tlsTimeout     = time.Second
	answerTimeout  = 1500 * time.Millisecond // to its first byte
	attemptTimeout = 2 * time.Second         // to its last

	// idleTimeout is well below the 90 s after which the other side is found to
	// have closed the connection.
	idleTimeout = 30 * time.Second
)

// NewClient returns a client with the region, the credentials and the endpoint
// of cfg, and with the timeouts and retries that the stores of this package
// build on. A client that cfg brings is used where it is the SDK's own, so that
// its certificates stay.
func NewClient(cfg aws.Config) *dynamodb.Client {
	httpClient, ok := cfg.HTTPClient.(*awshttp.BuildableClient)
	if !ok {
		httpClient = awshttp.NewBuildableClient()
	}
	return dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.Retryer, o.RetryMaxAttempts = standard, 0
		o.Logger = logging.Nop{} // what matters comes back as an error
		o.HTTPClient = strict{httpClient.
			WithTimeout(attemptTimeout).
			WithDialerOptions(func(d *net.Dialer) { d.Timeout = dialTimeout }).
			WithTransportOptions(func(t *http.Transport) {
				t.TLSHandshakeTimeout = tlsTimeout
				t.ResponseHeaderTimeout = answerTimeout
				t.IdleConnTimeout = idleTimeout
			})}
	})
}

// maxAnswer is the most that is read of an answer, in bytes. The largest is a page
// of a scan, of 1 MB before it is written as JSON.
const maxAnswer = 8 << 20

// strict keeps every answer within the client's timeouts and limits.
type strict struct{ aws.HTTPClient }

// Do implements [aws.HTTPClient]. The body of a 101 is a connection, which no
// timeout of the client ends, so that is no answer.
func (c strict) Do(request *http.Request) (*http.Response, error) {
	answer, err := c.HTTPClient.Do(request)
	if err != nil {
		return answer, err
	}
	if answer.StatusCode == http.StatusSwitchingProtocols {
		_ = answer.Body.Close() // and so the connection
		return nil, errors.New("dynamo: the answer is another protocol")
	}
	answer.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(answer.Body, maxAnswer), answer.Body}
	return answer, nil
}
