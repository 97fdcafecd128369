package dynamo

import (
	"bytes"
	"encoding/json/v2"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// maxAnswer is in bytes. The largest answer is a page of a scan: 1 MB of data, more as JSON.
const maxAnswer = 8 << 20

// ErrNotDynamoDB means that an answer is not DynamoDB's or is damaged: the outcome is unknown.
var ErrNotDynamoDB = errors.New("dynamo: the answer is not DynamoDB's")

// checkedClient returns an error for an answer that is incomplete or not DynamoDB's. A proxy or captive
// portal may answer in its place, also after DynamoDB carried the request out. The SDK takes any 2xx
// for success and any 4xx for a refusal, and only logs a wrong checksum.
type checkedClient struct{ aws.HTTPClient }

// Do implements [aws.HTTPClient].
func (c checkedClient) Do(request *http.Request) (*http.Response, error) {
	answer, err := c.HTTPClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close() //nolint:errcheck // it was read, or is of no use
	if answer.StatusCode == http.StatusSwitchingProtocols {
		return nil, ErrNotDynamoDB // its body is a connection, which may never end
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	if err := check(answer, body); err != nil {
		return nil, err
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return answer, nil
}

// check returns nil if DynamoDB sent the answer and the body is undamaged: a success has status 200,
// a body and its checksum, and a refusal has status 400 and names an error of Amazon's. A 5xx with a
// correct checksum or none passes, because it proves neither.
func check(answer *http.Response, body []byte) error {
	sum := answer.Header.Get("X-Amz-Crc32")
	if want := strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10); sum != "" && sum != want {
		return fmt.Errorf("%w: its checksum is wrong", ErrNotDynamoDB)
	}
	switch status := answer.StatusCode; {
	case status >= 500:
		return nil
	case status == http.StatusBadRequest:
		var refusal struct {
			Type string `json:"__type"`
		}
		if json.Unmarshal(body, &refusal) == nil && strings.HasPrefix(refusal.Type, "com.amazon") {
			return nil
		}
	case status == http.StatusOK && sum != "" && len(body) > 0:
		return nil
	}
	return fmt.Errorf("%w: status %d", ErrNotDynamoDB, answer.StatusCode)
}
