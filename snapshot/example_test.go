package snapshot_test

import (
	"fmt"
	"os"
	"path/filepath"

	"hdqs/snapshot"
)

// Example writes a table to a file, opens it and reads a column and a posting.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	table := &snapshot.TableData{
		Name: "fruit", Rows: 4,
		Columns: []snapshot.ColumnData{
			{
				Name: "name", Kind: snapshot.Text, Index: true,
				Values: []string{"pear", "apple"}, Codes: []uint32{1, 0, 1, snapshot.NullCode},
			},
			{Name: "price", Kind: snapshot.Decimal, Decimals: []snapshot.Dec{
				{Mantissa: 125, Scale: 2}, {Mantissa: 2}, {Scale: snapshot.DecNull}, {Mantissa: 5, Scale: 1},
			}},
		},
	}
	path := filepath.Join(dir, "fruit.seg")
	file, err := os.Create(path)
	if err != nil {
		panic(err)
	}
	if err := snapshot.WriteSegment(file, table); err != nil {
		panic(err)
	}
	if err := file.Close(); err != nil {
		panic(err)
	}

	segment, err := snapshot.OpenSegment(path)
	if err != nil {
		panic(err)
	}
	defer segment.Close()
	name, err := segment.Column("name")
	if err != nil {
		panic(err)
	}
	price, err := segment.Column("price")
	if err != nil {
		panic(err)
	}
	for row := range uint32(segment.Rows()) {
		fmt.Printf("%d %q %s\n", row, name.Text(row), price.Dec(row))
	}
	postings, _ := name.Postings()
	err = postings.EachRow(0, func(row uint32) error { // values are sorted: code 0 is apple
		fmt.Println(name.TextOf(0), "is in row", row)
		return nil
	})
	if err != nil {
		panic(err)
	}
	// Output:
	// 0 "apple" 1.25
	// 1 "pear" 2
	// 2 "apple" null
	// 3 "" 0.5
	// apple is in row 0
	// apple is in row 2
}
