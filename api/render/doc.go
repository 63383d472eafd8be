// Package render turns rows of a segment into the bytes of a page: JSON records and CSV lines (contract.md section 9).
package render
