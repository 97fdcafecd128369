package dynamo

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// unmarshal fills out, a pointer to a struct, with the attributes of an item. It returns an error if the name
// of one differs from a field's name in case only. The SDK would take one for the other: of revoked and
// Revoked, it would keep either.
func unmarshal(item map[string]types.AttributeValue, out any) error {
	// Of an embedded struct, VisibleFields lists the fields, and also the struct, which has no tag and so an empty name.
	for _, field := range reflect.VisibleFields(reflect.TypeOf(out).Elem()) {
		name, _, _ := strings.Cut(field.Tag.Get("dynamodbav"), ",")
		for other := range item {
			if other != name && strings.EqualFold(other, name) {
				return fmt.Errorf("it has the attribute %q, which is not %q", other, name)
			}
		}
	}
	return attributevalue.UnmarshalMap(item, out)
}
