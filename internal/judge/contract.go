package judge

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// contract is the interface as the judge reads it from the condensed testdata/contract.json. The
// full contract decodes into the same types, because they name a subset of its keys.
type contract struct {
	Name    string              `json:"contract"`
	Version string              `json:"interface_version"`
	Enums   map[string]enumFact `json:"enums"`
	Common  []*param            `json:"common_params"`
	Paths   []*endpoint         `json:"endpoints"`
	Other   []*otherRoute       `json:"other_routes"`
	Errors  map[string]any      `json:"errors"`
	Sums    *sumLaw             `json:"sums"`
	byPath  map[string]*endpoint
}

// enumFact is a closed list of values, in sort order.
type enumFact struct {
	Values   []string `json:"values_in_sort_order"`
	Msg      string   `json:"error_msg"`
	Expected string   `json:"error_ctx_expected"`
}

// endpoint is one list of records.
type endpoint struct {
	Path   string     `json:"path"`
	Group  string     `json:"group"`
	Method string     `json:"method"`
	Params []*param   `json:"params"`
	Fields []*field   `json:"fields"`
	Order  []*sortKey `json:"order_by"`
	Tie    []*sortKey `json:"tie_break"`
	key    []string   // the columns that identify a row in every load
	series []string   // those that rows have in common which differ only in their dates; nil without dates
}

// sumLaw says what figures are and which of them may be added up. Lists are by the last part of
// their path.
type sumLaw struct {
	NotInKeys   []string            `json:"not_in_keys"` // columns that others determine, or that do not identify
	Additive    []string            `json:"additive"`    // people, events, deaths and money, wherever they occur
	Averaged    []string            `json:"averaged"`    // further fields whose mean has a meaning
	Overlapping map[string][]string `json:"overlapping"` // fields of a list whose values count the same people
	Stocks      []string            `json:"stocks"`      // lists whose figures count everything anew in each period
	Yearly      []string            `json:"yearly"`      // or in each year
	Alike       map[string][]string `json:"alike"`       // fields that averaged figures must have in common
	// Totals are the values of fields that contain other ones: those that are listed, or all.
	Totals map[string]map[string][]string `json:"totals"`
}

// param is one query parameter. Match is the comparison by which it restricts Columns.
type param struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	Parse       string   `json:"parse,omitempty"`
	Required    bool     `json:"required,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	EnumName    string   `json:"enum_name,omitempty"`
	MaxLength   *int     `json:"maxLength,omitempty"`
	MinLength   *int     `json:"minLength,omitempty"`
	Pattern     string   `json:"pattern,omitempty"`
	Min         *int64   `json:"min,omitempty"`
	Max         *int64   `json:"max,omitempty"`
	Default     any      `json:"default,omitempty"`
	Match       string   `json:"match"`
	Columns     []string `json:"columns,omitempty"`
	IgnoredWhen string   `json:"ignored_when,omitempty"`
	AltHeader   string   `json:"alternative_header,omitempty"`
}

// field is one key of a record; fields are in wire order. Note is kept only if it is a rule, the
// form of a link.
type field struct {
	Name      string   `json:"name"`
	JSONType  string   `json:"json_type"`
	Number    string   `json:"number,omitempty"`
	Nullable  bool     `json:"nullable,omitempty"`
	Format    string   `json:"format,omitempty"`
	MaxLength *int     `json:"maxLength,omitempty"`
	Enum      []string `json:"enum,omitempty"`
	Note      string   `json:"note,omitempty"`
}

// sortKey is one column of an endpoint's order.
type sortKey struct {
	Column    string `json:"column"`
	SortAs    string `json:"sort_as"`
	Direction string `json:"direction"`
	Nulls     string `json:"nulls"`
}

// otherRoute is a path that is not a list of records, which is not judged.
type otherRoute struct {
	Path     string   `json:"path"`
	Auth     bool     `json:"auth"`
	Params   []*param `json:"params"`
	Response any      `json:"response"`
}

// parseContract parses the condensed or the full contract.
func parseContract(text []byte) (*contract, error) {
	c := &contract{byPath: map[string]*endpoint{}}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	for _, e := range c.Paths {
		c.byPath[e.Path] = e
		if c.Sums != nil { // the full contract has none
			c.identify(e)
		}
	}
	return c, nil
}

const periodStart = "reference_period_start"

// identify finds the columns that identify a row: those of the order, with codes instead of the
// numbers of a load. The round of a count is a date: each round counts everybody anew.
func (c *contract) identify(e *endpoint) {
	for _, k := range slices.Concat(e.Order, e.Tie) {
		column := strings.TrimSuffix(k.Column, "_stored")
		if unit, isNumber := strings.CutSuffix(column, "_ref"); isNumber {
			column = unit + "_code"
		}
		if column == "id" {
			column = "code"
		}
		if !slices.Contains(c.Sums.NotInKeys, column) {
			e.key = append(e.key, column)
		}
	}
	if slices.Contains(e.key, periodStart) {
		e.series = slices.DeleteFunc(slices.Clone(e.key), func(column string) bool {
			return column == periodStart || column == "reporting_round"
		})
	}
}
