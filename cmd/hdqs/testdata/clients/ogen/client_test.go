package client

import (
	"context"
	"flag"
	"testing"

	"client/api"
)

// identifier is what the client sends as both of the two schemes.
type identifier string

func (i identifier) AppIdentifierQuery(context.Context, api.OperationName) (api.AppIdentifierQuery, error) {
	return api.AppIdentifierQuery{APIKey: string(i)}, nil
}

func (i identifier) AppIdentifierHeader(context.Context, api.OperationName) (api.AppIdentifierHeader, error) {
	return api.AppIdentifierHeader{APIKey: string(i)}, nil
}

// TestList asks for a list with the client that ogen made and logs rows, total and the sum of a
// field: go test -v . -args BASE IDENTIFIER.
func TestList(t *testing.T) {
	client, err := api.NewClient(flag.Arg(0), identifier(flag.Arg(1)))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.GetConflictEventAPIV2CoordinationContextConflictEventsGet(t.Context(),
		api.GetConflictEventAPIV2CoordinationContextConflictEventsGetParams{
			LocationCode: api.NewOptString("AFG"), Limit: api.NewOptInt(5000),
		})
	if err != nil {
		t.Fatal(err)
	}
	list, is := answer.(*api.ConflictEventsListHeaders)
	if !is {
		t.Fatalf("the answer is %#v", answer)
	}
	fatalities := 0
	for _, row := range list.Response.Data {
		fatalities += row.Fatalities.Or(0)
	}
	t.Logf("%d\t%d\t%d\n", len(list.Response.Data), list.XTotalCount, fatalities)
}
