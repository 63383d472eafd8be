package odata

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/render"
	"hdqs/api/state"
)

// request is a request for records of a set.
type request struct {
	service *Service
	of      *set
	options
	ctx       *fasthttp.RequestCtx
	base      string // of the service
	link      string // of the set with the options that the next page has too
	onlyCount bool
	key       string // of the only record; empty for several
}

// limit is the most records of the page.
func (a *request) limit() int {
	if a.top >= 0 && a.top < int64(a.pageSize) {
		return int(a.top)
	}
	return a.pageSize
}

// answerRows answers with rows of a list.
func (a *request) answerRows() error {
	q := contract.Ask(a.of.endpoint, contract.Rows)
	filters, joined, err := a.of.compile(a.filter, q)
	if err != nil {
		return err
	}
	v := &list.View{
		Version: a.state, Filters: filters, Fields: a.selected, Around: a.around, Finish: a.finish, Key: a.meaning(),
	}
	if joined != nil || a.order != nil {
		v.Choose = (&choice{of: a.of, joined: joined, order: a.order}).page
	}
	limit, offset := a.limit(), a.skip
	switch {
	case a.onlyCount:
		limit, offset = 0, 0
		v.Write = func(dst []byte, sc *list.Scratch, _ *state.BoundList) []byte {
			return strconv.AppendInt(dst, int64(sc.Page.Total), 10)
		}
	case a.key != "":
		missing := a.of.Name + " has no row with the key"
		if v.Version, offset, err = a.service.lists.RowOf(a.of.endpoint, a.key, missing); err != nil {
			return err
		}
		limit = 1
		v.Write = a.writeRows
	case a.form.level == full || a.form.quoted:
		v.Write = a.writeRows
	}
	return a.service.lists.AnswerRows(a.ctx, a.of.list, q.Page(int(offset), limit), v)
}

// meaning is what the answer depends on besides the table and the page.
func (a *request) meaning() []byte {
	return fmt.Appendf(nil, "odata 2 %s %d %d %d %t %t %q", a.link, a.top, a.pageSize, a.form.level, a.form.quoted,
		a.onlyCount, a.key)
}

// finish sets the header fields of an answer with records.
func (a *request) finish(h *fasthttp.ResponseHeader) {
	contentType := a.form.contentType()
	if a.onlyCount {
		contentType = "text/plain"
	}
	h.SetContentType(contentType)
	h.Set(headerVersion, version)
	if a.preferred {
		h.Set("Preference-Applied", "odata.maxpagesize="+strconv.Itoa(a.pageSize))
	}
	a.service.sender.SetPolicy(h, a.varies())
}

// around is the text around the rows of a page.
func (a *request) around(sc *list.Scratch, l *state.BoundList) (head, tail []byte) {
	return a.before(sc.Page.Total), a.after(l.ShortVersion(), sc.Page.Rows, sc.Page.Total)
}

// context is the address of what the answer is, in $metadata.
func (a *request) context() string {
	context := a.base + "$metadata#" + a.of.Name
	if a.selected != nil {
		names := make([]string, len(a.selected))
		for i, at := range a.selected {
			names[i] = a.of.Properties[at].Name
		}
		context += "(" + strings.Join(names, ",") + ")"
	}
	return context
}

func (a *request) before(total int) []byte {
	head := []byte{'{'}
	if a.form.level != none {
		head = append(render.AppendJSONText(append(head, `"@odata.context":`...), a.context()), ',')
	}
	if a.count {
		head = append(head, `"@odata.count":`...)
		if a.form.quoted {
			head = fmt.Appendf(head, `"%d",`, total)
		} else {
			head = fmt.Appendf(head, `%d,`, total)
		}
	}
	return append(head, `"value":[`...)
}

// after has the address of the next page. It names the state of the data, so that all pages are of
// one.
func (a *request) after(state string, rows, total int) []byte {
	next := a.skip + uint64(rows)
	if rows == 0 || next >= uint64(total) || a.top >= 0 && a.top <= int64(rows) {
		return []byte("]}")
	}
	link := a.link
	if a.top >= 0 {
		link += "$top=" + strconv.FormatInt(a.top-int64(rows), 10) + "&"
	}
	link += "$skiptoken=" + state + "~" + strconv.FormatUint(next, 10)
	return append(render.AppendJSONText([]byte(`],"@odata.nextLink":`), link), '}')
}

// writeRows writes rows one by one, with what forms of entities do not have.
func (a *request) writeRows(dst []byte, sc *list.Scratch, l *state.BoundList) []byte {
	rows, ids, err := list.RowsOf(sc, l)
	if err != nil {
		panic(err) // the columns are bound
	}
	version := l.ShortVersion()
	key := func(i int) string {
		return string(render.AppendRowNumber([]byte(version+"-"), ids[i]))
	}
	return a.write(dst, rows, key, version)
}
