package plants

import (
	"context"
	"net/http"
	"reflect"
	"strings"

	"plantstore/internal/api"
)

// maxBody keeps every plant within the 400 KiB of a DynamoDB item.
const maxBody = 400_000

var (
	errContentType = api.Error{
		Code:    http.StatusUnsupportedMediaType,
		Message: "The body must be JSON: send the header Content-Type: application/json.",
	}
	errTooLarge = api.Error{
		Code:    http.StatusRequestEntityTooLarge,
		Message: "The body is too large: send at most 400000 bytes.",
	}
	errTaken = api.Error{
		Code:    http.StatusConflict,
		Message: "Another plant has this id, and was not changed: choose another id.",
	}
)

// Create returns the operation POST /plants. It never changes a plant, and answers the same plant again with the same
// answer, so that a client that got none can just repeat its request.
func Create(store Store) api.Operation {
	return func(ctx context.Context, r api.Request) (answer any, err error) {
		if !mayBeJSON(r.ContentType) {
			return nil, errContentType
		}
		if len(r.Body) > maxBody {
			return nil, errTooLarge
		}
		plant, err := decode(r.Body)
		if err != nil {
			message := "The body is not a NewPlant: " + err.Error() + "."
			return nil, api.Error{Code: http.StatusBadRequest, Message: message}
		}
		holder, err := store.LoadOrStore(ctx, plant, r.Subject)
		if err != nil {
			return nil, err
		}
		if !reflect.DeepEqual(holder, plant) {
			return nil, errTaken
		}
		return plant.Plant, nil
	}
}

// mayBeJSON accepts any parameters, and no content type, which many clients leave out.
func mayBeJSON(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	return contentType == "" || strings.ToLower(strings.Trim(media, " \t")) == "application/json"
}
