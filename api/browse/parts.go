package browse

import (
	"hdqs/api/chart"
	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/say"
)

// Table is records, for a template.
type Table struct {
	Total, From, To string
	All             lang.Count // of Total
	Part            bool       // not all records are shown
	Columns         []column
	Rows            [][]cell
	Same            []same // what all rows have in common
	Unsorted        string // why the records are not sorted as the address says
	Pages           pager
	Sizes           []link
}

// pager leads to other pages. An address is empty where there is none.
type pager struct{ First, Previous, Next, Last string }

// figure is what a page draws of all records that pass.
type figure struct {
	ID      string // unique on the page
	Of      string // the headline figure of which it has all countries, empty for another drawing
	Title   string // one sentence: what, where and when
	Second  string // unit, source and days
	Chosen  []link // filters that were chosen for the reader, each with the page without it
	Form    figureForm
	Chart   drawnChart
	Map     drawnMap
	Data    data
	Limit   limit
	Refusal refusal
	About   *about
	Source  string // the same figures as a request

	around   float64 // what figures are above or below of; 0 for nothing
	sentence string  // the title without its time
	when     string  // the time in the title
	since    string  // the first time that is drawn, where earlier ones are not
	lasts    string  // over how long figures are added up, in words

	asked state // the page that draws the same, with what was chosen for the reader; without a path for none
	drawn state // the page of the records that are drawn, if its address is another; without a path else
	apart bool  // each combination of values is drawn, which no address asks for
}

// figureForm is the form that draws something else.
type figureForm struct {
	Measures, Bys []option
	Keep          []option // parameters that the form sends on
}

// drawnChart is the drawing of a figure.
type drawnChart struct {
	Drawing  *chart.Drawing
	OverTime bool           // a script may draw the lines too
	Bars     *chart.Drawing // below a map of the same figures
	Lines    []seriesKey
	Legend   []chart.Shade
	Key      string   // what the classes of the legend are of
	Left     int      // groups that are not drawn
	Groups   int      // of bars, drawn or not
	Cut      []string // what a chart over time leaves out, in words
	Whole    link     // the page that draws all of it
}

// Framed is the drawing that a frame has room for.
func (d *drawnChart) Framed() *chart.Drawing {
	if d.Drawing.IsBars() {
		return d.Drawing.First(framedBars)
	}
	return d.Drawing
}

// FramedLeft is how many bars a frame has no room for.
func (d *drawnChart) FramedLeft() lang.Count {
	if d.Drawing.IsBars() {
		return lang.Count(max(0, d.Groups-framedBars))
	}
	return 0
}

// drawnMap is what a map lacks.
type drawnMap struct {
	Blank      bool       // it has areas without a figure
	Boundaries string     // whose they are; empty without a map
	Elsewhere  string     // the page that draws one, if this page has another map
	Unmapped   string     // whose boundaries have none of the units
	Missing    string     // areas that it does not have, with their figures
	Unseen     lang.Count // how many those are
	Placeless  string     // the figure without a place on it, or how many markets have none; empty without any
}

// data is the figures as a table.
type data struct {
	Head     []string
	Rows     [][]cell
	Codes    []string // of the names, empty without codes
	Unlisted int      // groups that are not in it
	Times    bool     // rows are months or years
	More     int      // rows that are left out until a reader asks for all
	All      string   // the page that has them, empty if no row is left out
	Open     bool     // it is the page that has all
}

// limit is what a reader must know of a figure that is not all of what it seems to be.
type limit struct {
	Turned   string   // that it is drawn by something else than the address asks for
	LeftOut  []string // places of which sums would be wrong
	Coverage string   // that not all units have records
	National []string // countries of which this is not the figure of the whole country, with that one
	Coarsest string   // the page with those
	Several  int      // groups without a figure, since their records have several
	Others   link     // the page with countries that are published at other levels
	Changing []string // months whose figures their source can still change
}

// refusal is why there is no figure.
type refusal struct {
	Refused []say.Text
	Heal    string  // the page that shows the right figure
	Right   *figure // that figure, nil where the page shows none before a choice
}

// seriesKey is a line of the legend of a chart over time.
type seriesKey struct {
	Class, Name string
	IsLine      bool // else it has only marks
}

// maxBars is how many bars a page draws, maxLabels how many points in time, and maxFigures how many
// lines its table has, of which shownFigures are there before a reader asks for all: a thousand
// provinces take 16,000 bytes.
const (
	maxBars    = 30
	framedBars = 8
	maxLabels  = 600
	maxFigures = 600

	shownFigures = 12

	newestMonths = 36 // are drawn first
	maxPanels    = 12 // are drawn beside each other
)

type column struct {
	Name, Label, About string
	Number             bool // right-aligned
	Shown              bool
	Folded             bool   // stands above the table, since all rows have the same value
	Sort               string // to the page sorted by the column
	Order              string // ascending or descending, of the column by which the page is sorted

	Own   string // the label of the column's field alone
	field *contract.Field
	end   *contract.Field // of a period, whose start field is
}

// InTable reports whether the column is one of the table.
func (c *column) InTable() bool { return c.Shown && !c.Folded }

type cell struct {
	Text   string
	Code   string // what the text says in words
	Exact  string // the number that the text rounds
	Label  string // of the column
	Number bool
	Null   bool
	Name   bool   // a name, which may be written from right to left
	Ours   bool   // in our words: a page begins it with a capital letter, a file does not
	Link   string // to the record
	About  string // what the link leads to, with the text in it
}

// same is a value that all rows have.
type same struct {
	Label string
	cell
}
