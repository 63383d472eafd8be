// Asks for a list with the client that ogen made and prints rows, total and the sum of a field:
// client BASE IDENTIFIER.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

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

func main() {
	client, err := api.NewClient(os.Args[1], identifier(os.Args[2]))
	if err != nil {
		log.Fatal(err)
	}
	answer, err := client.GetConflictEventAPIV2CoordinationContextConflictEventsGet(context.Background(),
		api.GetConflictEventAPIV2CoordinationContextConflictEventsGetParams{
			LocationCode: api.NewOptString("AFG"), Limit: api.NewOptInt(5000),
		})
	if err != nil {
		log.Fatal(err)
	}
	list, is := answer.(*api.ConflictEventsListHeaders)
	if !is {
		log.Fatalf("the answer is %#v", answer)
	}
	fatalities := 0
	for _, row := range list.Response.Data {
		fatalities += row.Fatalities.Or(0)
	}
	fmt.Printf("%d\t%d\t%d\n", len(list.Response.Data), list.XTotalCount, fatalities)
}
