package chart

import (
	"math"
	"slices"
	"strconv"

	"hdqs/api/lang"
)

// Scheme is classes that the provider of figures has, and their colours.
type Scheme struct {
	Name  string   // of the colours in the style sheet
	Texts []string // of the classes, the first of class 1
}

// Inform is the name of the colours of the five classes of INFORM, and Phases that of the five
// phases of acute food insecurity.
const (
	Inform = "inform"
	Phases = "phases"
)

// classify gives areas the classes that their provider has. The legend has how far the figures of
// each go.
func (s *Scheme) classify(areas []Area) (class []string, legend []Shade) {
	least, most := make([]*Area, len(s.Texts)), make([]*Area, len(s.Texts))
	class = make([]string, len(areas))
	for i := range areas {
		a := &areas[i]
		if a.Class < 1 || a.Class > len(s.Texts) {
			class[i] = "none"
			continue
		}
		class[i] = shade(a.Class)
		k := a.Class - 1
		if least[k] == nil || a.Value < least[k].Value {
			least[k] = a
		}
		if most[k] == nil || a.Value > most[k].Value {
			most[k] = a
		}
	}
	for k, text := range s.Texts {
		if least[k] != nil {
			span := least[k].Text
			if most[k].Text != span {
				span += "–" + most[k].Text
			}
			legend = append(legend, Shade{shade(k + 1), text + " (" + span + ")"})
		}
	}
	return class, legend
}

func shade(n int) string { return "m" + strconv.Itoa(n) }

// maxClasses is the most classes of figures, and shades how many colours they are spread over, from
// m1 on. Figures of zero have m0.
const (
	maxClasses = 7
	shades     = 9
)

// crowded is the share of figures in one class of equal width above which the classes have equal
// ratios.
const crowded = 0.6

// classify shares figures out among classes that part at round numbers. A class has what is not
// less than its limit and less than the next one; 0 is apart.
func classify(c *Chart, values []float64) (class []string, legend []Shade) {
	l := c.Language
	limits := limitsOf(values, c.Full != 0)
	if c.Around != 0 {
		limits = nil
		for _, part := range []float64{50, 75, 90, 110, 125, 150} {
			limits = append(limits, c.Around*part/100)
		}
	}
	zero := false
	class = make([]string, len(values))
	for i, v := range values {
		if v == 0 && c.Around == 0 {
			class[i], zero = "m0", true
			continue
		}
		class[i] = spread(classOf(limits, v), len(limits)+1, c.Around != 0)
	}
	if zero {
		legend = append(legend, Shade{"m0", plain(l, 0)})
	}
	if zero && !slices.ContainsFunc(values, func(v float64) bool { return v != 0 }) || len(values) == 0 {
		return class, legend
	}
	for n := range len(limits) + 1 {
		s := Shade{Class: spread(n, len(limits)+1, c.Around != 0), Text: l.T("all")}
		switch {
		case len(limits) == 0:
		case n == 0:
			s.Text = l.T("less than %s", round(l, limits[0]))
		case n == len(limits):
			s.Text = l.T("%s or more", round(l, limits[n-1]))
		default:
			s.Text = l.T("%[1]s to less than %[2]s", round(l, limits[n-1]), round(l, limits[n]))
		}
		legend = append(legend, s)
	}
	return class, legend
}

// classOf is the number of the class of a value: how many limits it has reached.
func classOf(limits []float64, v float64) int {
	n, _ := slices.BinarySearch(limits, math.Nextafter(v, math.Inf(1)))
	return n
}

// spread is the shade of a class of several: the last has the darkest one, whatever their number.
// Classes on both sides of a middle have colours of their own.
func spread(n, of int, twoSided bool) string {
	switch {
	case twoSided:
		return shade(n + 1)
	case of == 1:
		return shade((shades + 1) / 2)
	}
	return shade(1 + (n*(shades-1)+(of-1)/2)/(of-1))
}

// limitsOf are round numbers at which classes of figures part: of equal width, or of equal ratios
// where most figures would be in one of those and they are no shares. The first and the last class
// have a figure.
func limitsOf(values []float64, areShares bool) []float64 {
	var other []float64 // than 0
	for _, v := range values {
		if v != 0 {
			other = append(other, v)
		}
	}
	if len(other) == 0 || slices.Min(other) == slices.Max(other) {
		return nil
	}
	equal := equalWidths(slices.Min(other), slices.Max(other))
	if areShares || slices.Min(other) < 0 || fullest(equal, other) <= crowded {
		return equal
	}
	if ratios := equalRatios(slices.Min(other), slices.Max(other)); fullest(ratios, other) < fullest(equal, other) {
		return ratios
	}
	return equal
}

// fullest is the share of values in the class that has the most.
func fullest(limits, values []float64) float64 {
	counts := make([]int, len(limits)+1)
	for _, v := range values {
		counts[classOf(limits, v)]++
	}
	return float64(slices.Max(counts)) / float64(len(values))
}

// equalWidths are the multiples of 1, 2 or 5 times a power of ten between two numbers.
func equalWidths(least, most float64) []float64 {
	var all [][]float64
	start := int(math.Floor(math.Log10(most-least))) - 1
	for power := start; power < start+3; power++ {
		for _, times := range []float64{1, 2, 5} {
			var limits []float64
			step := decimal(times, power)
			for k := math.Floor(least/step) + 1; k <= math.Floor(most/step) && len(limits) < maxClasses; k++ {
				limits = append(limits, decimal(k*times, power))
			}
			all = append(all, limits)
		}
	}
	return usual(all)
}

// equalRatios are numbers such as 1, 2, 5, 10 or 1, 10, 100 between two that are positive.
func equalRatios(least, most float64) []float64 {
	var all [][]float64
	for _, of := range []struct {
		times []float64
		step  int // of the power of ten
	}{
		{[]float64{1, 2, 5}, 1},
		{[]float64{1, 3}, 1},
		{[]float64{1}, 1},
		{[]float64{1}, 2},
		{[]float64{1}, 3},
		{nil, 1},
	} {
		var limits []float64
		for power := -21; power < 30; power++ {
			for _, times := range of.times {
				x := decimal(times, power)
				if power%of.step == 0 && x > least && x <= most && len(limits) < maxClasses {
					limits = append(limits, x)
				}
			}
		}
		all = append(all, limits)
	}
	return usual(all)
}

// usual are those limits that make a number of classes next to the usual one.
func usual(all [][]float64) []float64 {
	const classes = 5
	return slices.MinFunc(all, func(a, b []float64) int {
		far := func(limits []float64) int {
			if len(limits) >= maxClasses {
				return maxClasses
			}
			return max(len(limits)+1-classes, classes-1-len(limits))
		}
		return far(a) - far(b)
	})
}

// decimal is a number times a power of ten, as close as a text of it is read.
func decimal(times float64, power int) float64 {
	x, _ := strconv.ParseFloat(strconv.FormatFloat(times, 'f', -1, 64)+"e"+strconv.Itoa(power), 64)
	return x
}

// round writes a limit: with a word for millions.
func round(l *lang.Language, x float64) string {
	if math.Abs(x) >= lang.Scales[len(lang.Scales)-1].Size {
		return l.Rounded(strconv.FormatFloat(x, 'f', -1, 64))
	}
	return plain(l, x)
}
