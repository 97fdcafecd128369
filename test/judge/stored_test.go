package judge

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"math"
	mathrand "math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"plantstore/internal/api"
	"plantstore/internal/dynamo"
	"plantstore/internal/plant"
	"plantstore/test/dynamotest"
	"plantstore/test/processtest"
)

// Every valid body is stored and answered exactly, however it is written.
func TestValidBodiesAreStoredExactly(t *testing.T) {
	client, table, _ := dynamotest.Tables(t)
	j, r := newJudge(t), mathrand.New(mathrand.NewPCG(processtest.Seed(t), 0))
	h := &api.CreatePlant{Plants: &dynamo.PlantStore{Client: client, Table: table}, Log: slog.New(slog.DiscardHandler), Now: time.Now, NewKey: rand.Text}
	var group sync.WaitGroup
	places := make(chan struct{}, 8)
	plants := randomPlants(r, processtest.Scale(300, 10_000))
	for _, p := range plants {
		sent := request{body: []byte(write(r, p)), text: r.IntN(2) == 0}
		if judged := j.check(t, "a valid body", sent.body); judged != nil {
			t.Errorf("the test's own body %q is judged %v, want a plant", sent.body, judged)
			break
		}
		places <- struct{}{}
		group.Go(func() {
			defer func() { <-places }()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			code, created, err := j.answer(h.Invoke(ctx, sent.event()))
			if got := (plant.NewPlant{ID: p.ID, Plant: created}); err != nil || code != 0 || text(got) != text(p) {
				t.Errorf("Invoke(%.1000q) = %d %.1000s, %v, want %.1000s", sent.body, code, text(got), err, text(p))
			}
			if problem := stored(ctx, client, table, p); problem != "" {
				t.Errorf("after Invoke(%.1000q) %s", sent.body, problem)
			}
		})
	}
	group.Wait()
	if !t.Failed() {
		t.Logf("%d valid bodies came back and are stored exactly", len(plants))
	}
}

// stored says in what the item of p differs from p, or nothing.
func stored(ctx context.Context, client *dynamodb.Client, table string, p plant.NewPlant) string {
	id := &types.AttributeValueMemberN{Value: fmt.Sprint(p.ID)}
	out, err := client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      &table,
		Key:            map[string]types.AttributeValue{"id": id},
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return err.Error()
	}
	want := map[string]types.AttributeValue{"id": id, "name": &types.AttributeValueMemberS{Value: p.Name}}
	if p.Tag != nil {
		want["tag"] = &types.AttributeValueMemberS{Value: *p.Tag}
	}
	for _, name := range []string{"id", "name", "tag"} {
		if !reflect.DeepEqual(out.Item[name], want[name]) {
			return fmt.Sprintf("the item's %s = %.1000q, want %.1000q", name, out.Item[name], want[name])
		}
	}
	return ""
}

// randomPlants returns n plants, no two with the same id.
func randomPlants(r *mathrand.Rand, n int) []plant.NewPlant {
	ids := []int64{0, -1, 1, 1000, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, 1<<53 + 1}
	taken := map[int64]bool{}
	var plants []plant.NewPlant
	for len(plants) < n {
		id := int64(r.Uint64()) >> r.IntN(64)
		if len(ids) > 0 {
			id, ids = ids[0], ids[1:]
		}
		if taken[id] {
			continue
		}
		taken[id] = true
		p := plant.NewPlant{ID: id, Plant: plant.Plant{Name: randomText(r, 1)}}
		if r.IntN(2) == 0 {
			tag := randomText(r, 0)
			p.Tag = &tag
		}
		if r.IntN(300) == 0 {
			p.Name, p.Tag = strings.Repeat("ä", plant.MaxSize/2-r.IntN(3)), nil
		}
		plants = append(plants, p)
	}
	return plants
}

// randomText returns at least that many characters, of all kinds that JSON has.
func randomText(r *mathrand.Rand, least int) string {
	ranges := [][2]rune{
		{' ', '~'},
		{' ', '~'},
		{0, 0x1f},
		{'"', '"'},
		{'\\', '\\'},
		{0x7f, 0xff},
		{0x300, 0x36f},
		{0x400, 0x7ff},
		{0x2000, 0x206f},
		{0x4e00, 0x9fff},
		{0xfdd0, 0xfdef},
		{0xfff0, 0xffff},
		{0x1f300, 0x1faff},
		{0x10fff0, 0x10ffff},
	}
	characters := make([]rune, least+r.IntN(40))
	for i := range characters {
		bounds := ranges[r.IntN(len(ranges))]
		characters[i] = bounds[0] + r.Int32N(bounds[1]-bounds[0]+1)
	}
	return string(characters)
}

// write returns a body that means p: members in any order, others between them,
// white space, and numbers and characters in any of their forms.
func write(r *mathrand.Rand, p plant.NewPlant) string {
	members := []string{
		writeString(r, "id") + ":" + writeInteger(r, p.ID),
		writeString(r, "name") + ":" + writeString(r, p.Name),
	}
	if p.Tag != nil {
		members = append(members, writeString(r, "tag")+":"+writeString(r, *p.Tag))
	}
	for i := range r.IntN(3) {
		members = append(members, fmt.Sprintf(`"x%d":%s`, i, []string{"null", "1e999", `{"id":2}`, `["name",{}]`, `""`}[r.IntN(5)]))
	}
	r.Shuffle(len(members), func(i, k int) { members[i], members[k] = members[k], members[i] })
	space := func() string { return strings.Repeat([]string{" ", "\n", "\t", "\r"}[r.IntN(4)], r.IntN(3)) }
	return space() + "{" + space() + strings.Join(members, space()+","+space()) + space() + "}" + space()
}

func writeInteger(r *mathrand.Rand, id int64) string {
	if id == 0 {
		return []string{"0", "-0", "0.0", "-0.000E-5", "0e999999999"}[r.IntN(5)]
	}
	forms := []string{"%d", "%d.0", "%d.000e0", "%de0", "%dE+00", "%d0e-1", "%d00.0E-2"}
	return fmt.Sprintf(forms[r.IntN(len(forms))], id)
}

func writeString(r *mathrand.Rand, value string) string {
	var written strings.Builder
	often := 1 + r.IntN(5)
	for _, c := range value {
		switch {
		case c == '\n' && r.IntN(2) == 0:
			written.WriteString(`\n`)
		case c == '"' && r.IntN(2) == 0, c == '\\' && r.IntN(2) == 0, c == '/' && r.IntN(2) == 0:
			written.WriteString(`\` + string(c))
		case c < ' ' || c == '"' || c == '\\' || r.IntN(often) > 2:
			written.WriteString(escape(r, c))
		default:
			written.WriteRune(c)
		}
	}
	return `"` + written.String() + `"`
}
