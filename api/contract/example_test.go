package contract_test

import (
	"errors"
	"fmt"

	"hdqs/api/contract"
)

// Parse a query string and write it in its canonical form.
func ExampleRequest() {
	plan := contract.NewPlan(&contract.Endpoints[0], contract.Rows) // the list of datasets
	var r contract.Request
	r.Scanned.Scan(plan, []byte("limit=010&dataset_catalog_title=floods+2024&colour=red&offset=0"))
	if err := r.Parse(); err != nil {
		fmt.Println(err)
	}
	fmt.Println(string(r.AppendCanonical(nil)))
	fmt.Println(r.Scanned.UnknownNames())

	r.Scanned.Scan(plan, []byte("limit=ten"))
	if invalid, ok := errors.AsType[*contract.Invalid](r.Parse()); ok {
		fmt.Println(invalid.Issues[0].Param, invalid.Issues[0].Type)
	}
	// Output:
	// dataset_catalog_title=floods%202024&limit=10
	// [colour]
	// limit int_parsing
}
