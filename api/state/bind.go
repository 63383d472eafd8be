package state

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hdqs/api/contract"
	"hdqs/api/encode"
	"hdqs/api/render"
	"hdqs/api/reply"
	"hdqs/index"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// Bound is all endpoints bound to one snapshot. It refers to the snapshot's memory, so it must not
// be used after the snapshot is closed. Until then any number of goroutines may share it.
type Bound struct {
	Snap  *store.Snapshot
	Lists map[string]*BoundList // by path

	Countries []Country
	Groups    *contract.CountryGroups

	Figures KeptFigures // of its publication

	provisional []atomic.Pointer[Provisional] // by position of the list; nil until needed
	finding     sync.Mutex                    // is held while provisional rows are found
}

// KeptFigures is the file of headline figures of a publication, and its SHA-256. Both are empty if
// the publication has none. Figures that it does not have are computed.
type KeptFigures struct {
	SHA256 string
	Data   []byte
}

// BoundList is one endpoint with the rows it answers from. Segment, index and renderers are nil if
// the snapshot does not have the table: then the list is empty.
type BoundList struct {
	position int    // of the endpoint in contract.Endpoints
	Version  string // of the table's content, empty without the table
	Segment  *snapshot.Segment
	Rows     int
	period   Period
	Index    *index.Index
	Filters  []index.Filter     // by position in Plan.Params, without values
	Named    [NameSets]boundSet // by contract.NameSet
	Replaced time.Time          // when it was bound in place of other content; zero if it was the first
	Need     need
	Adds     atomic.Pointer[Adder] // nil until needed, and once given up

	everybody []index.Filter // of rows that count everybody
	nested    bool           // rows can be of places that contain those of others
}

// boundSet is what a list has for each set of names. The renderers share the rows, and the
// fragments in which no name differs; the others are built when they are first used.
type boundSet struct {
	Tag      [32]byte // the common part of all entity tags
	Renderer *render.Renderer
}

// shortVersion is how much of a version tells the contents of a table apart.
const shortVersion = 12

// ShortVersion is the version of the table's content as keys of rows have it.
func (l *BoundList) ShortVersion() string { return l.Version[:min(shortVersion, len(l.Version))] }

// NameSets is the number of sets of names.
const NameSets = 2

// Bodies of lists without a table.
const (
	EmptyJSON   = `{"data":[]}`
	EmptyPoints = `{"type":"FeatureCollection","features":[]}`
)

// Bind binds all endpoints to a snapshot. The error lists every table and column that does not
// match its endpoint. Nobody else may use the segments of the snapshot meanwhile: they get the
// columns of nulls that they lack.
func Bind(snap *store.Snapshot) (*Bound, error) {
	return bindAfter(snap, nil, Options{Compression: encode.Stored})
}

// BindPair binds both of two snapshots that are compared.
func BindPair(from, to *store.Snapshot) (bound [2]*Bound, err error) {
	if bound[0], err = Bind(from); err == nil {
		bound[1], err = Bind(to)
	}
	return bound, err
}

// bindAfter reuses what an earlier Bound has for segments that both snapshots share, so that a
// refresh of one small table opens one index. Without an earlier one it uses all cores.
func bindAfter(snap *store.Snapshot, earlier *Bound, o Options) (b *Bound, err error) {
	defer bindingPanicked(&err)
	versions := make(map[string]string, len(snap.Manifest.Tables))
	for _, ref := range snap.Manifest.Tables {
		versions[ref.Table] = ref.SHA256
	}
	lists, faults := make([]*BoundList, len(contract.Endpoints)), make([]error, len(contract.Endpoints))
	bind := func(i int) {
		e := &contract.Endpoints[i]
		lists[i], faults[i] = bindList(i, snap.Segments[e.Table], versions[e.Table], o.Compression)
	}
	var workers sync.WaitGroup
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		switch seg := snap.Segments[e.Table]; {
		case earlier == nil:
			workers.Go(func() { bind(i) })
		case seg != nil && earlier.Lists[e.Path].Segment == seg:
			lists[i] = earlier.Lists[e.Path]
		default:
			bind(i) // on the thread of the caller, which has a low priority
			if lists[i] != nil {
				if lists[i].Replaced = time.Now(); lists[i].Version == earlier.Lists[e.Path].Version {
					lists[i].Replaced = earlier.Lists[e.Path].Replaced
				}
			}
		}
	}
	workers.Wait()
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	b = &Bound{
		Snap: snap, Lists: make(map[string]*BoundList, len(lists)),
		provisional: make([]atomic.Pointer[Provisional], len(lists)),
	}
	b.setCountries(o.Groups)
	for i, list := range lists {
		b.Lists[contract.Endpoints[i].Path] = list
	}
	return b, nil
}

// Missing lists the tables of endpoints that the snapshot does not have, or that have no rows.
func (b *Bound) Missing() []string {
	var tables []string
	for i := range contract.Endpoints {
		if b.Lists[contract.Endpoints[i].Path].Rows == 0 {
			tables = append(tables, contract.Endpoints[i].Table)
		}
	}
	return tables
}

// tableRows returns the number of rows of each table.
func (b *Bound) tableRows() map[string]int {
	rows := make(map[string]int, len(contract.Endpoints))
	for i := range contract.Endpoints {
		rows[contract.Endpoints[i].Table] = b.Lists[contract.Endpoints[i].Path].Rows
	}
	return rows
}

// DerivedBytes returns the memory of what has been made for answers: fragments, stored blocks,
// texts and lists for searching, cached sets of rows, and what sums need.
func (b *Bound) DerivedBytes() int64 {
	var n int64
	for _, list := range b.Lists {
		if list.Segment != nil {
			n += list.Index.Bytes() + list.Named[contract.ContractNames].Renderer.Bytes() + list.Adds.Load().Bytes()
		}
	}
	return n
}

// DropDerived gives up what was derived for answers, except for tables that other has too. Answers
// make it again.
func (b *Bound) DropDerived(other *Bound) {
	for path, list := range b.Lists {
		if list.Segment != nil && list != other.Lists[path] {
			list.Index.Forget()
			list.Adds.Store(nil)
			list.Named[contract.ContractNames].Renderer.Forget()
		}
	}
}

// bindingPanicked is deferred, and makes an error of a panic: unexpected content of a snapshot must
// not end a process that serves another one.
func bindingPanicked(err *error) {
	if fault := recover(); fault != nil {
		*err = fmt.Errorf("api: a panic while a snapshot was bound: %v\n%s", fault, debug.Stack())
	}
}

// bindList binds the endpoint at a position of contract.Endpoints to a version of its table.
func bindList(position int, seg *snapshot.Segment, version string, tier encode.Tier) (list *BoundList, err error) {
	defer bindingPanicked(&err)
	list = new(BoundList)
	if seg != nil {
		list, err = bindSegment(position, seg, tier)
	}
	if err != nil {
		return nil, err
	}
	list.position, list.Version = position, version
	if named := &list.Named[contract.HAPINames]; named.Renderer != nil {
		fields := RenderFields(contract.EndpointsIn(contract.HAPINames)[position].Fields)
		if named.Renderer, err = named.Renderer.WithEntities(fields, list.ShortVersion(), contract.IsDay); err != nil {
			return nil, err
		}
		named.Renderer = named.Renderer.WithFeatures(list.ShortVersion())
	}
	for s := range list.Named {
		list.Named[s].Tag = reply.TagSeed(&contract.EndpointsIn(contract.NameSet(s))[position], version)
	}
	return list, nil
}

// bindSegment binds the endpoint at a position to its table.
func bindSegment(position int, seg *snapshot.Segment, tier encode.Tier) (*BoundList, error) {
	e := &contract.Endpoints[position]
	if err := addNulls(seg, e.Fields); err != nil {
		return nil, fmt.Errorf("api: %s: %w", e.Path, err)
	}
	var faults []error
	for _, f := range e.Fields {
		faults = append(faults, fieldFault(seg, f))
	}
	for _, p := range e.Filters() {
		for _, column := range p.Columns {
			faults = append(faults, filterFault(seg, p, column))
		}
	}
	for _, column := range slices.Concat(e.Key, e.Order) {
		_, err := seg.Column(column)
		faults = append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("api: %s: %w", e.Path, err)
	}
	o := indexOptions(e)
	ix, err := index.Open(seg, o)
	if err != nil {
		return nil, fmt.Errorf("api: %s: %w", e.Path, err)
	}
	h := &contract.EndpointsIn(contract.HAPINames)[position]
	list := &BoundList{
		Segment: seg, Rows: seg.Rows(), period: periodOf(seg), Index: ix, Filters: bindFilters(h),
		nested: e.Nests(), everybody: everybodyFilters(e),
	}
	r, err := render.New(seg, RenderFields(e.Fields), encode.Options{Tier: tier})
	if err == nil {
		list.Named[contract.ContractNames].Renderer, err = withPoints(r, e)
	}
	if err == nil {
		if r, err = r.Renamed(RenderFields(h.Fields), RenderFields(h.CSVFields())); err == nil {
			list.Named[contract.HAPINames].Renderer, err = withPoints(r, h)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("api: %s: %w", e.Path, err)
	}
	return list, nil
}

// Complete gives a snapshot the columns that Bind would, for readers of tables that need no more.
func Complete(snap *store.Snapshot) error {
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		if seg := snap.Segments[e.Table]; seg != nil {
			if err := addNulls(seg, e.Fields); err != nil {
				return fmt.Errorf("api: %s: %w", e.Path, err)
			}
		}
	}
	return nil
}

// addNulls gives a segment the columns of fields that may be null and that it does not have: an
// earlier program wrote it, or the rows are those of an earlier load.
func addNulls(seg *snapshot.Segment, fields []contract.Field) error {
	var nulls []snapshot.ColumnData
	for i := range fields {
		f := &fields[i]
		if _, err := seg.Column(f.Name); err == nil || !f.Nullable {
			continue
		}
		null := snapshot.ColumnData{Name: f.Name, Kind: KindsOf[f.Type][0]}
		if f.Enum != nil {
			null.Values = f.Enum.Values
		}
		nulls = append(nulls, null)
	}
	if nulls == nil {
		return nil
	}
	return seg.AddNulls(nulls)
}

// withPoints returns a renderer that also writes GeoJSON if the endpoint's records have a place.
func withPoints(r *render.Renderer, e *contract.Endpoint) (*render.Renderer, error) {
	if !e.HasPoints() {
		return r, nil
	}
	return r.WithPoints(RenderFields(e.Fields), contract.LatField, contract.LonField)
}

// bindFilters returns the filters of an endpoint in HAPI names. In the contract's names it has the
// same ones at the same positions, but for the last ones.
func bindFilters(e *contract.Endpoint) []index.Filter {
	params := contract.PlanOf(e, contract.Rows).Params
	filters := make([]index.Filter, len(params))
	for i, p := range params {
		filters[i] = index.Filter{Columns: p.Columns, Op: p.Op}
	}
	return filters
}

// RenderFields returns the fields of an endpoint for a renderer.
func RenderFields(fields []contract.Field) []render.Field {
	out := make([]render.Field, len(fields))
	for i, f := range fields {
		out[i] = render.Field{Name: f.Name, Column: f.Column()}
	}
	return out
}

// KindsOf lists the kinds of column that can hold a type. A filter on an enum of numbers may read
// an integer column.
var KindsOf = map[contract.Type][]snapshot.Kind{
	contract.String:   {snapshot.Text, snapshot.Enum},
	contract.URI:      {snapshot.Text},
	contract.Choice:   {snapshot.Enum},
	contract.Integer:  {snapshot.Int},
	contract.Number:   {snapshot.Decimal},
	contract.Exact:    {snapshot.Decimal},
	contract.Boolean:  {snapshot.Bool},
	contract.DateTime: {snapshot.Time},
	contract.Day:      {snapshot.Time},
}

// fieldFault checks the column of a field. It accepts nulls that the field does not allow: rows of
// view dumps are served as they are, and one such cell must not keep all tables from being served.
// The load report lists these cells.
func fieldFault(seg *snapshot.Segment, f contract.Field) error {
	c, err := seg.Column(f.Name)
	switch {
	case err != nil:
		return err
	case !slices.Contains(KindsOf[f.Type], c.Kind):
		return fmt.Errorf("column %q of table %q is of kind %s, the field needs one of %v",
			f.Name, seg.Name(), c.Kind, KindsOf[f.Type])
	case f.Type == contract.Choice:
		return enumFault(seg, c, f.Enum)
	}
	return nil
}

func filterFault(seg *snapshot.Segment, p contract.Param, column string) error {
	c, err := seg.Column(column)
	if err != nil {
		return fmt.Errorf("parameter %q: %w", p.Name, err)
	}
	kinds := KindsOf[p.Type]
	if p.IsLevel() {
		kinds = KindsOf[contract.Integer]
	}
	if !slices.Contains(kinds, c.Kind) {
		return fmt.Errorf("parameter %q: column %q of table %q is of kind %s, not of %v",
			p.Name, column, seg.Name(), c.Kind, kinds)
	}
	if c.Kind == snapshot.Enum && p.Type == contract.Choice {
		return enumFault(seg, c, p.Enum)
	}
	return nil
}

func enumFault(seg *snapshot.Segment, c *snapshot.Column, e *contract.Enum) error {
	values := make([]string, c.Cardinality())
	for i := range values {
		values[i] = c.TextOf(uint32(i))
	}
	if !slices.Equal(values, e.Values) {
		return fmt.Errorf("column %q of table %q has the values %q, the enum %q", c.Name, seg.Name(), values, e.Values)
	}
	return nil
}

// Values are the values of a column, nil without the table.
func (l *BoundList) Values(column string) (*render.Values, error) {
	if l.Segment == nil {
		return nil, nil
	}
	c, err := l.Segment.Column(column)
	if err != nil {
		return nil, err
	}
	return render.NewValues(c), nil
}

// Passing are the rows of a list that pass, nil without the table.
func (l *BoundList) Passing(q *index.Query) (*index.Passing, error) {
	if l.Index == nil {
		return nil, nil
	}
	return l.Index.Passing(q)
}

// FillQuery sets a query to what a question asks for. The query refers to the question's lists.
func (l *BoundList) FillQuery(q *index.Query, r *contract.Question) {
	q.Limit, q.Offset, q.Filters = r.Limit, r.Offset, q.Filters[:0]
	q.Latest, q.Edition, q.Coarsest = r.Latest, r.Edition, r.Coarsest && l.nested
	for i := range r.Filters {
		f := l.Filters[r.Filters[i].Param]
		f.Value, f.Values = r.Values(&r.Filters[i])
		q.Filters = append(q.Filters, f)
	}
	if r.Everybody {
		q.Filters = append(q.Filters, l.everybody...)
	}
}

// CountRows counts the rows that pass a question's filters.
func (l *BoundList) CountRows(r *contract.Question) (int, error) {
	var q index.Query
	var page index.Page
	l.FillQuery(&q, r)
	q.Limit = 0
	err := l.Index.Select(&q, &page)
	return page.Total, err
}
