package load

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Fresh makes requests for pages that were not requested before, so that a server with a cache of
// finished answers finds none of them there. It varies limit and offset: a page that holds all rows
// keeps them under other limits, and then loses up to one per cent of them at its start; any other
// page gets up to one per cent shorter and moves on in its list.
type Fresh struct {
	First int64 // number of the first page

	mu    sync.Mutex
	pages map[string]*freshPages // by the name of the query
}

// freshPages are the pages that one query is varied to.
type freshPages struct {
	limit, offset   int          // of the query itself
	limits, offsets int          // different ones of each
	next            atomic.Int64 // numbers the requests
	prefix          string       // of their addresses
}

const (
	// defaultLimit is the limit of a query that names none.
	defaultLimit = "10000"

	// farthest limits how far a page moves.
	farthest = 20000
)

// at returns limit and offset of a page. Page 0 is the query's own. The limit changes first,
// because that changes the rows least.
func (f *freshPages) at(n int64) (limit, offset int) {
	k := int(n % int64(f.limits*f.offsets))
	return f.limit - k%f.limits, f.offset + k/f.limits
}

// take returns limit and offset of the next page.
func (f *freshPages) take() (limit, offset int) { return f.at(f.next.Add(1)) }

// rowsOf returns the number of rows of a query's page, in a list of total rows.
func rowsOf(q Query, total int) int {
	limit, offset, err := q.page()
	if err != nil {
		return 0
	}
	return max(0, min(limit, total-offset))
}

// page returns limit and offset of a query.
func (q *Query) page() (limit, offset int, err error) {
	_, query, _ := strings.Cut(q.Target, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return 0, 0, err
	}
	limit, err1 := strconv.Atoi(cmp.Or(values.Get("limit"), defaultLimit))
	offset, err2 := strconv.Atoi(cmp.Or(values.Get("offset"), "0"))
	return limit, offset, errors.Join(err1, err2)
}

// pagesOf returns the pages of a query whose list has total rows.
func pagesOf(limit, offset, total int) *freshPages {
	f := &freshPages{limit: limit, offset: offset, limits: 1 + limit/100, offsets: 1}
	if all := total - offset; all < limit {
		f.limits = 1 + limit - max(all, 0)
		f.offsets += max(all, 0) / 100
	} else {
		f.offsets += min(farthest, all-limit)
	}
	return f
}

// of returns the pages of a query on a server. The first call asks the server how many rows there
// are.
func (f *Fresh) of(s *Server, q Query) (*freshPages, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if known := f.pages[q.Name]; known != nil {
		return known, nil
	}
	limit, offset, err1 := q.page()
	a, err2 := s.fetch(q, Identity)
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("load: %s: %w", q.Name, err)
	}
	total, err := strconv.Atoi(a.total)
	if err != nil {
		return nil, fmt.Errorf("load: %s: the answer's X-Total-Count is %q: its pages cannot be varied", q.Name,
			a.total)
	}
	if f.pages == nil {
		f.pages = map[string]*freshPages{}
	}
	pages := pagesOf(limit, offset, total)
	pages.prefix = s.prefix(q)
	pages.next.Store(f.First)
	f.pages[q.Name] = pages
	return pages, nil
}

// prefix is the address of a query's pages, up to the number of its limit.
func (s *Server) prefix(q Query) string {
	path, query, _ := strings.Cut(q.Target, "?")
	kept := slices.DeleteFunc(strings.Split(query, "&"), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return name == "" || name == "limit" || name == "offset"
	})
	return s.URL + path + "?" + strings.Join(append(kept, "limit="), "&")
}

// appendNext appends the address of the next page.
func (f *freshPages) appendNext(dst []byte) []byte {
	limit, offset := f.take()
	dst = append(dst, f.prefix...)
	dst = strconv.AppendInt(dst, int64(limit), 10)
	dst = append(dst, "&offset="...)
	return strconv.AppendInt(dst, int64(offset), 10)
}
