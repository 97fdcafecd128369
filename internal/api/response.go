package api

import (
	"encoding/json/v2"
	"net/http"
)

// retryAfter is when a client may try again, in seconds.
const retryAfter = "1"

// response is an answer to API Gateway in payload format 2.0.
type response struct {
	StatusCode int               `json:"statusCode"`
	Headers    map[string]string `json:"headers"`
	Body       string            `json:"body"`
}

// respond returns the answer 200 with body, or 400 with the Error that err stands for.
func respond(body any, err error, idempotencyKey string) ([]byte, error) {
	r := response{StatusCode: http.StatusOK, Headers: map[string]string{"content-type": "application/json"}}
	if err != nil {
		o := classify(err)
		r.StatusCode = http.StatusBadRequest
		body = o.Error
		if o.retry {
			r.Headers["retry-after"] = retryAfter
		}
		if o.returnsKey {
			r.Headers["idempotency-key"] = idempotencyKey
		}
	}
	content, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	r.Body = string(content)
	return json.Marshal(r)
}
