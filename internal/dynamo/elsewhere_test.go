package dynamo_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"plantstore/internal/dynamo"
	"plantstore/internal/plant"
	"plantstore/internal/token"
	"plantstore/test/dynamotest"
	"plantstore/test/storetest"
)

// plain returns the URL of a DynamoDB as other servers of its API are: no answer has a checksum, and
// the type of an error has no namespace.
func plain(t *testing.T) string {
	t.Helper()
	endpoint, err := url.Parse(dynamotest.Endpoint(t))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(endpoint) },
		ModifyResponse: func(answer *http.Response) error {
			body, err := io.ReadAll(answer.Body)
			if err != nil {
				return err
			}
			body = bytes.ReplaceAll(body, []byte("com.amazonaws.dynamodb.v20120810#"), nil)
			answer.Body = io.NopCloser(bytes.NewReader(body))
			answer.ContentLength = int64(len(body))
			answer.Header.Del("Content-Length")
			answer.Header.Del("X-Amz-Crc32")
			return nil
		},
	})
	t.Cleanup(server.Close)
	return server.URL
}

// Other servers of DynamoDB's API serve as well.
func TestPlantsElsewhere(t *testing.T) {
	t.Parallel()
	client := dynamotest.FunctionClient(plain(t))
	storetest.TestPlants(t, func(t *testing.T) plant.Store {
		_, plants, _ := dynamotest.Tables(t)
		return &dynamo.Plants{Client: client, Table: plants}
	})
}

func TestTokensElsewhere(t *testing.T) {
	t.Parallel()
	client := dynamotest.FunctionClient(plain(t))
	storetest.TestTokens(t, func(t *testing.T) token.Store {
		_, _, tokens := dynamotest.Tables(t)
		return &dynamo.Tokens{Client: client, Table: tokens}
	})
}
