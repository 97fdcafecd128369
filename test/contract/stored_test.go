package contract

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"plantstore/internal/dynamo"
	"plantstore/internal/plant"
	"plantstore/test/dynamotest"
	"plantstore/test/processtest"
)

// Every valid body is stored and answered exactly, however it is written.
func TestValidBodiesAreStoredExactly(t *testing.T) {
	t.Parallel()
	client, table, _ := dynamotest.Tables(t)
	s, r := newService(t, &dynamo.PlantStore{Client: client, Table: table}), rand.New(rand.NewPCG(processtest.Seed(t), 0))
	ids := []int64{0, -1, 1, 1000, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, 1<<53 + 1}
	for number := range processtest.Scale(300, 10_000) {
		p := plant.NewPlant{ID: int64(r.Uint64()), Plant: plant.Plant{Name: randomText(r) + "."}}
		if number < len(ids) {
			p.ID = ids[number]
		}
		if r.IntN(2) == 0 {
			tag := randomText(r)
			p.Tag = &tag
		}
		body := write(r, p)
		if judged, code := s.judge([]byte(body)); code != 0 || !reflect.DeepEqual(judged, p) {
			t.Fatalf("the oracle judges the body %q of %s = %d, %s", body, text(p), code, text(judged))
		}
		s.checkBody(t, body)
		out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{
			TableName:      &table,
			Key:            map[string]types.AttributeValue{"id": &types.AttributeValueMemberN{Value: fmt.Sprint(p.ID)}},
			ConsistentRead: aws.Bool(true),
		})
		if err != nil {
			t.Fatal(err)
		}
		var stored plant.NewPlant
		if err := attributevalue.UnmarshalMap(out.Item, &stored); err != nil || !reflect.DeepEqual(stored, p) {
			t.Errorf("POST %q stores %s, %v, want %s", body, text(stored), err, text(p))
		}
		if t.Failed() {
			return
		}
	}
}

// randomText returns up to 40 characters of all kinds that JSON has.
func randomText(r *rand.Rand) string {
	kinds := []rune("aZ 0/\"\\\x00\b\t\n\f\r\x1f\x7f\u00a0ßé\u0301\u0800\u200b\u2028\uFDD0\uFEFF\uFFFD\uFFFF梅🌱\U0010FFFF")
	characters := make([]rune, r.IntN(40))
	for i := range characters {
		characters[i] = kinds[r.IntN(len(kinds))]
		if r.IntN(2) == 0 {
			characters[i] = r.Int32N(0x3000)
		}
	}
	return string(characters)
}

// write returns a body that means p: members in any order, others between them, white space, and
// numbers and characters in any of their forms.
func write(r *rand.Rand, p plant.NewPlant) string {
	forms := []string{"%d", "%d.0", "%d.000e0", "%de0", "%dE+00", "%d0e-1", "%d00.0E-2"}
	if p.ID == 0 {
		forms = []string{"%d", "-%d", "%d.0", "-%d.000E-5", "%de999999999"}
	}
	members := []string{
		writeString(r, "id") + ":" + fmt.Sprintf(forms[r.IntN(len(forms))], p.ID),
		writeString(r, "name") + ":" + writeString(r, p.Name),
	}
	if p.Tag != nil {
		members = append(members, writeString(r, "tag")+":"+writeString(r, *p.Tag))
	}
	for i := range r.IntN(3) {
		other := []string{"null", "1e999", `{"id":2}`, `["name",{}]`, `""`}[r.IntN(5)]
		members = append(members, fmt.Sprintf(`"x%d":%s`, i, other))
	}
	r.Shuffle(len(members), func(i, k int) { members[i], members[k] = members[k], members[i] })
	space := func() string { return strings.Repeat([]string{" ", "\n", "\t", "\r"}[r.IntN(4)], r.IntN(3)) }
	return space() + "{" + space() + strings.Join(members, space()+","+space()) + space() + "}" + space()
}

// writeString returns a JSON string of value, with some characters as escapes.
func writeString(r *rand.Rand, value string) string {
	var written strings.Builder
	short, often := strings.NewReplacer("\n", `\n`, "\t", `\t`, `"`, `\"`, `\`, `\\`, "/", `\/`), 1+r.IntN(5)
	for _, c := range value {
		format := []string{`\u%04x`, `\u%04X`}[r.IntN(2)]
		switch high, low := utf16.EncodeRune(c); {
		case strings.ContainsRune("\n\t\"\\/", c) && r.IntN(2) == 0:
			written.WriteString(short.Replace(string(c)))
		case c >= ' ' && c != '"' && c != '\\' && r.IntN(often) < 3:
			written.WriteRune(c)
		case high != '\uFFFD':
			fmt.Fprintf(&written, format+format, high, low)
		default:
			fmt.Fprintf(&written, format, c)
		}
	}
	return `"` + written.String() + `"`
}
