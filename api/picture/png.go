package picture

import (
	"cmp"
	"image"
	"image/color"
	"image/png"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/vector"
)

// canvas is a picture as pixels.
type canvas struct {
	*image.RGBA
	*letters
	brush vector.Rasterizer
	view  image.Rectangle // what can be drawn on
}

func newCanvas(l *letters) *canvas {
	c := &canvas{RGBA: image.NewRGBA(image.Rect(0, 0, Width, Height)), letters: l}
	c.view = c.Rect
	return c
}

func (c *canvas) clip(to *area) {
	if c.view = c.Rect; to != nil {
		c.view = image.Rect(int(to.x), int(to.y), int(to.x+to.width), int(to.y+to.height))
	}
}

// write writes the picture with its 256 most frequent colours. Smooth edges have thousands that
// look the same and make the file three times as long.
func (c *canvas) write(w io.Writer) error {
	counts, from := map[color.RGBA]int{}, 0
	for i := 4; i <= len(c.Pix); i += 4 { // pixels beside each other are mostly the same
		if i == len(c.Pix) || [4]byte(c.Pix[i:]) != [4]byte(c.Pix[from:]) {
			counts[color.RGBA{c.Pix[from], c.Pix[from+1], c.Pix[from+2], 0xff}] += (i - from) / 4
			from = i
		}
	}
	colours := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int {
		return cmp.Or(counts[b]-counts[a], int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B))
	})
	few := image.NewPaletted(c.Rect, nil)
	for _, colour := range colours[:min(len(colours), 256)] {
		few.Palette = append(few.Palette, colour)
	}
	at := make(map[color.RGBA]uint8, len(colours))
	for _, colour := range colours {
		at[colour] = uint8(few.Palette.Index(colour))
	}
	for i := range few.Pix {
		if p := c.Pix[4*i:]; i > 0 && [4]byte(p) == [4]byte(c.Pix[4*i-4:]) {
			few.Pix[i] = few.Pix[i-1]
		} else {
			few.Pix[i] = at[color.RGBA{p[0], p[1], p[2], 0xff}]
		}
	}
	return png.Encode(w, few)
}

// hatch is the picture of a hatched area.
type hatch struct{ *image.Uniform }

func (hatch) At(x, y int) color.Color {
	if (x+y)%6 == 0 {
		return color.RGBA{0xb4, 0xbb, 0xc2, 0xff}
	}
	return color.White
}

// paint is a colour as an image.
func paint(text string) image.Image {
	if text == hatched {
		return hatch{image.White}
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(text, "#"), 16, 24)
	if err != nil {
		panic("picture: the colour " + text) // of rules
	}
	return image.NewUniform(color.RGBA{uint8(n >> 16), uint8(n >> 8), uint8(n), 0xff})
}

// fill fills areas, as if each were filled alone.
func (c *canvas) fill(rings []ring, colour string) {
	left, top, right, bottom := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, r := range rings {
		for _, p := range r.points {
			left, top, right, bottom = min(left, p.x), min(top, p.y), max(right, p.x), max(bottom, p.y)
		}
	}
	box := c.begin(left, top, right, bottom)
	if box.Empty() {
		return
	}
	for _, r := range rings {
		for i, p := range within(r.points, box) {
			x, y := float32(p.x-float64(box.Min.X)), float32(p.y-float64(box.Min.Y))
			if i == 0 {
				c.brush.MoveTo(x, y)
			} else {
				c.brush.LineTo(x, y)
			}
		}
		c.brush.ClosePath()
	}
	c.brush.Draw(c.RGBA, box, paint(colour), box.Min)
}

// within is the part of an area that is in a box.
func within(points []point, box image.Rectangle) []point {
	for side := range 4 {
		limit := [4]int{box.Min.X, box.Min.Y, -box.Max.X, -box.Max.Y}[side]
		depth := func(p point) float64 { return [4]float64{p.x, p.y, -p.x, -p.y}[side] - float64(limit) }
		outside := func(p point) bool { return depth(p) < 0 }
		if !slices.ContainsFunc(points, outside) {
			continue
		}
		var kept []point
		for i, b := range points {
			a := points[(i+len(points)-1)%len(points)]
			if outside(a) != outside(b) {
				part := depth(a) / (depth(a) - depth(b))
				kept = append(kept, point{a.x + (b.x-a.x)*part, a.y + (b.y-a.y)*part})
			}
			if !outside(b) {
				kept = append(kept, b)
			}
		}
		points = kept
	}
	return points
}

// begin makes the brush ready for a part of the picture.
func (c *canvas) begin(left, top, right, bottom float64) image.Rectangle {
	if size := right - left + bottom - top; left > right || math.IsNaN(size) || math.IsInf(size, 0) {
		return image.Rectangle{}
	}
	at := func(x float64) int { return int(max(-Width, min(x, 2*Width))) }
	box := image.Rect(at(left)-1, at(top)-1, at(right)+2, at(bottom)+2).Intersect(c.view)
	if !box.Empty() {
		c.brush.Reset(box.Dx(), box.Dy())
	}
	return box
}

func (c *canvas) shape(rings []ring, s *style, _ string) {
	if s.fill != none {
		c.fill(rings, s.fill)
	}
	if s.stroke == "" || s.width == 0 {
		return
	}
	var strokes []ring
	for _, r := range rings {
		points := r.points
		if r.closed && len(points) > 0 {
			points = append(slices.Clone(points), points[0])
		}
		for _, piece := range dashed(points, s.dash) {
			strokes = appendStroke(strokes, piece, s.width/2)
		}
	}
	c.fill(strokes, s.stroke)
}

// appendStroke appends a thick line as a rectangle for each part of it, and what is between them.
// All have one direction, so that where they overlap they do not cancel each other.
func appendStroke(all []ring, points []point, half float64) []ring {
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		long := math.Hypot(b.x-a.x, b.y-a.y)
		if long == 0 {
			continue
		}
		x, y := (b.y-a.y)/long*half, (a.x-b.x)/long*half
		all = append(all, ring{points: []point{
			{a.x + x, a.y + y}, {b.x + x, b.y + y}, {b.x - x, b.y - y}, {a.x - x, a.y - y},
		}})
		if i > 1 && half > 0.5 {
			all = append(all, circle(a, half))
		}
	}
	return all
}

// longestDashed is the longest line that is cut into dashes, in pixels: no chart has a longer one.
const longestDashed = 100 * Width

// dashed cuts a line into dashes.
func dashed(points []point, lengths []float64) (pieces [][]point) {
	all := 0.0
	for i := 1; i < len(points); i++ {
		all += math.Hypot(points[i].x-points[i-1].x, points[i].y-points[i-1].y)
	}
	if len(lengths) == 0 || len(points) == 0 || !(all < longestDashed) {
		return [][]point{points}
	}
	n, left := 0, lengths[0]
	piece := []point{points[0]}
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		for {
			long := math.Hypot(b.x-a.x, b.y-a.y)
			if long < left || left <= 0 {
				left -= long
				break
			}
			a = point{a.x + (b.x-a.x)/long*left, a.y + (b.y-a.y)/long*left}
			if n%2 == 0 {
				pieces = append(pieces, append(piece, a))
			}
			n++
			piece, left = []point{a}, lengths[n%len(lengths)]
		}
		piece = append(piece, b)
	}
	if n%2 == 0 {
		pieces = append(pieces, piece)
	}
	return pieces
}

func (c *canvas) text(at point, s *style, text string) {
	if s.fill == none {
		return
	}
	switch {
	case s.anchor == "end", s.rtl:
		at.x -= c.width(text, s)
	case s.anchor == "middle":
		at.x -= c.width(text, s) / 2
	}
	colour := paint(s.fill)
	line := c.line(text, s)
	slices.SortFunc(line, func(a, b shaping.Output) int { return int(a.VisualIndex - b.VisualIndex) })
	for i := range line {
		at.x = c.run(at, &line[i], colour)
	}
}

// run draws letters of one font from a place on, and returns where they end.
func (c *canvas) run(at point, run *shaping.Output, colour image.Image) float64 {
	scale := float64(run.Size) / 64 / float64(run.Face.Upem())
	for _, g := range run.Glyphs {
		x, y := at.x+float64(g.XOffset)/64, at.y-float64(g.YOffset)/64
		at.x += float64(g.Advance) / 64
		outline, ok := run.Face.GlyphData(g.GlyphID).(font.GlyphOutline)
		if !ok {
			continue
		}
		left, top := x+float64(g.XBearing)/64, y-float64(g.YBearing)/64
		box := c.begin(left, top, left+float64(g.Width)/64, top-float64(g.Height)/64)
		if box.Empty() {
			continue
		}
		to := func(p font.SegmentPoint) (float32, float32) {
			return float32(x + float64(p.X)*scale - float64(box.Min.X)),
				float32(y - float64(p.Y)*scale - float64(box.Min.Y))
		}
		for _, s := range outline.Segments {
			ax, ay := to(s.Args[0])
			bx, by := to(s.Args[1])
			cx, cy := to(s.Args[2])
			switch s.Op {
			case opentype.SegmentOpMoveTo:
				c.brush.ClosePath()
				c.brush.MoveTo(ax, ay)
			case opentype.SegmentOpLineTo:
				c.brush.LineTo(ax, ay)
			case opentype.SegmentOpQuadTo:
				c.brush.QuadTo(ax, ay, bx, by)
			case opentype.SegmentOpCubeTo:
				c.brush.CubeTo(ax, ay, bx, by, cx, cy)
			}
		}
		c.brush.ClosePath()
		c.brush.Draw(c.RGBA, box, colour, box.Min)
	}
	return at.x
}
