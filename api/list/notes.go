package list

import (
	"fmt"
	"strconv"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/say"
)

// headerOf has notes as header fields. Browsers need to know only the names of those that there
// are: X-Hint and X-Data-Provisional are exposed anyway.
func headerOf(n *say.Notes) (fields []reply.HeaderField) {
	add := func(name, value string) { fields = append(fields, reply.HeaderField{Name: name, Value: value}) }
	if !n.Hint.IsZero() {
		add(contract.HeaderHint, n.Hint.String())
	}
	if len(n.Provisional) > 0 {
		add(contract.HeaderProvisional, strings.Join(n.Provisional, ", "))
	}
	if n.Coverage.All > 0 {
		add(contract.HeaderCoverage, fmt.Sprintf("units=%d/%d", n.Coverage.Have, n.Coverage.All))
	}
	var more []string
	for _, left := range n.Left {
		more = append(more, left.Field+"="+strconv.Itoa(left.Values))
	}
	if len(more) > 0 {
		add(contract.HeaderMore, strings.Join(more, ", "))
	}
	if c := n.Changes; c != nil {
		add(contract.HeaderChanges, fmt.Sprintf("added=%d, removed=%d, changed=%d", c.Added, c.Removed, c.Changed))
	}
	return reply.Exposed(fields...)
}
