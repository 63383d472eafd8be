package index_test

import (
	"bytes"
	"fmt"

	"hdqs/index"
	"hdqs/snapshot"
)

// Example builds the index of a small table, filters it and reads the second page.
func Example() {
	table := &snapshot.TableData{
		Name: "fruit", Rows: 6,
		Columns: []snapshot.ColumnData{
			{
				Name: "name", Kind: snapshot.Text, Index: true,
				Values: []string{"apple", "pineapple", "pear"}, Codes: []uint32{0, 1, 2, 0, 1, 2},
			},
			{Name: "grams", Kind: snapshot.Int, Ints: []int64{150, 900, 180, 160, 1100, 170}},
		},
	}
	var file bytes.Buffer
	if err := snapshot.WriteSegment(&file, table); err != nil {
		panic(err)
	}
	segment, err := snapshot.ReadSegment(file.Bytes())
	if err != nil {
		panic(err)
	}
	x, err := index.Open(segment)
	if err != nil {
		panic(err)
	}
	query := &index.Query{
		Filters: []index.Filter{
			{Columns: []string{"name"}, Op: index.Contains, Value: index.Value{Text: "APPLE"}},
			{Columns: []string{"grams"}, Op: index.AtLeast, Value: index.Value{Int: 160}},
		},
		Offset: 2, Limit: 10,
	}
	var page index.Page
	if err := x.Select(query, &page); err != nil {
		panic(err)
	}
	fmt.Println("total", page.Total)
	name, err := segment.Column("name")
	if err != nil {
		panic(err)
	}
	for _, rows := range page.Ranges {
		for row := rows.From; row < rows.To; row++ {
			fmt.Println(row, name.Text(row))
		}
	}
	// Output:
	// total 3
	// 4 pineapple
}
