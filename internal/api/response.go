package api

import (
	"encoding/json/v2"
	"net/http"
)

// response is an answer to API Gateway in payload format 2.0.
type response struct {
	StatusCode int               `json:"statusCode"`
	Headers    map[string]string `json:"headers"`
	Body       string            `json:"body"`
}

// respond returns the answer 200 with body for a success, and otherwise 400 with the Error of the
// outcome.
func respond(o outcome, body any, idempotencyKey string) ([]byte, error) {
	r := response{StatusCode: http.StatusOK, Headers: map[string]string{"content-type": "application/json"}}
	if o.err != nil {
		r.StatusCode = http.StatusBadRequest
		body = Error{Code: o.code, Message: o.message}
	}
	if o.retry {
		r.Headers["retry-after"] = "1" // second
	}
	if o.returnsKey && idempotencyKey != "" {
		r.Headers["idempotency-key"] = idempotencyKey
	}
	content, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	r.Body = string(content)
	return json.Marshal(r)
}
