package contract

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"plantstore/internal/dynamo"
	"plantstore/internal/plant"
	"plantstore/test/dynamotest"
	"plantstore/test/processtest"
)

// Every valid body is stored exactly, however it is written.
func TestValidBodiesAreStoredExactly(t *testing.T) {
	t.Parallel()
	client, table, _ := dynamotest.Tables(t)
	s, r := newService(t, &dynamo.PlantStore{Client: client, Table: table}), rand.New(rand.NewPCG(processtest.Seed(t), 0))
	bodies := s.validBodies()
	for left := processtest.Scale(300, 10_000); left > 0 && !t.Failed(); {
		body := mutant(r, bodies)
		want, code := s.judge([]byte(body))
		if code != 0 {
			continue
		}
		left--
		s.checkBody(t, body)
		// The next plant may have the same id.
		out, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
			TableName:    &table,
			Key:          map[string]types.AttributeValue{"id": &types.AttributeValueMemberN{Value: fmt.Sprint(want.ID)}},
			ReturnValues: types.ReturnValueAllOld,
		})
		if err != nil {
			t.Fatal(err)
		}
		var stored plant.NewPlant
		if err := attributevalue.UnmarshalMap(out.Attributes, &stored); err != nil || !reflect.DeepEqual(stored, want) {
			t.Errorf("POST %q stores %s, %v, want %s", body, text(stored), err, text(want))
		}
	}
}
