// Asks for a list with the generated client and prints rows, total and the sum of a field:
// client BASE IDENTIFIER.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"client/api"
)

func main() {
	server, err := api.NewClientWithResponses(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	location, limit := "AFG", 5000
	answer, err := server.ListConflictEventsWithResponse(context.Background(), &api.ListConflictEventsParams{
		AppIdentifier: &os.Args[2], LocationCode: &location, Limit: &limit,
	})
	if err != nil {
		log.Fatal(err)
	}
	if answer.JSON200 == nil {
		log.Fatalf("%s: %s", answer.Status(), answer.Body)
	}
	fatalities := 0
	for _, row := range answer.JSON200.Data {
		if row.Fatalities != nil {
			fatalities += *row.Fatalities
		}
	}
	fmt.Printf("%d\t%s\t%d\n", len(answer.JSON200.Data), answer.HTTPResponse.Header.Get("X-Total-Count"), fatalities)
}
