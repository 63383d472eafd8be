package generator

import "math"

// crowd is how many people live somewhere, and how many of them are in need.
type crowd struct{ people, need int }

// condition is how a country is doing. Nothing in it is true: it follows from the country's code,
// whether it has a plan, and its income level. All lists follow it, so that their figures make
// sense together: people in need are a part of the population, refugees come from where there is
// violence, and prices are in one rate of exchange.
type condition struct {
	crowd     crowd
	targeted  float64 // part of the people in need whom the plan means to help
	reached   float64 // part of those
	displaced float64 // part of the people who are displaced within the country
	fled      float64 // part of the people who live in other countries as refugees
	violence  float64 // 0 to 1
	hunger    float64 // part of the people in phase 3 or worse
	poor      float64 // part of the people who are poor
	funded    float64 // part of what the plan asks for that is given
	perHead   float64 // dollars that the plan asks for, for a person
}

// poorParts are how many people are poor by the income level of their country: the least part, and
// the range above it.
var poorParts = map[string][2]float64{
	"Low": {0.5, 0.35}, "Lower middle": {0.15, 0.3}, "Upper middle": {0.03, 0.1}, "High": {0.005, 0.02}, "": {0.1, 0.2},
}

func conditionOf(r *random, l *location) (c condition) {
	income := l.classes[len(l.classes)-1]
	trouble, people := 0.02, 30_000*math.Pow(1000, r.unit())
	switch {
	case l.plan:
		trouble, people = 1, 4_000_000*math.Pow(12, r.unit())
	case l.appeal:
		trouble = 0.15
	case income == "": // mostly a small island
		people /= 300
	}
	c.crowd = crowd{int(people), int(people * trouble * (0.12 + 0.3*r.unit()))}
	c.targeted, c.reached = 0.4+0.4*r.unit(), 0.3+0.4*r.unit()
	c.displaced, c.fled = trouble*(0.01+0.1*r.unit()), trouble*(0.005+0.08*r.unit())
	c.violence, c.hunger = trouble*(0.1+0.9*r.unit()), trouble*(0.08+0.25*r.unit())
	c.poor = poorParts[income][0] + poorParts[income][1]*r.unit()
	c.funded, c.perHead = 0.15+0.65*r.unit(), 60+140*r.unit()
	return c
}

// populate gives each country its condition, and its units their parts of its people. The need of a
// unit is less than its people: at most 42 per cent of a country, and at each of two levels at most
// 1.5 times the part above it.
func populate(w *world) {
	for _, l := range w.locations {
		r := newRandom(w.seed, "people/"+l.iso3)
		l.condition = conditionOf(r, l)
		units := make([]*crowd, len(l.units1))
		for i, u := range l.units1 {
			units[i] = &u.crowd
		}
		l.condition.crowd.share(r, units)
		for _, u := range l.units1 {
			units = make([]*crowd, len(u.units))
			for i, v := range u.units {
				units[i] = &v.crowd
			}
			u.crowd.share(r, units)
		}
	}
}

// share divides people, and those of them in need, among units. The parts add up to the whole.
func (c crowd) share(r *random, units []*crowd) {
	sizes, needs := make([]float64, len(units)), make([]float64, len(units))
	for i := range units {
		sizes[i] = 0.5 + r.unit()
		needs[i] = sizes[i] * (0.8 + 0.4*r.unit())
	}
	people, need := split(c.people, sizes), split(c.need, needs)
	for i, to := range units {
		*to = crowd{people[i], need[i]}
	}
}

// split divides a number by weights. The parts add up to it.
func split(total int, weights []float64) []int {
	rest := 0.0
	for _, weight := range weights {
		rest += weight
	}
	parts := make([]int, len(weights))
	for i, weight := range weights {
		if parts[i] = total; i < len(weights)-1 {
			parts[i] = int(float64(total) * weight / rest)
		}
		total, rest = total-parts[i], rest-weight
	}
	return parts
}

// crowd is who lives at a place.
func (p *place) crowd() crowd {
	switch p.level {
	case "0":
		return p.location().condition.crowd
	case "1":
		return p.admin1().crowd
	}
	return p.unit.crowd
}

// part is a share of a number, give or take some per cent of it.
func (r *random) part(of int, share float64, percent int) int {
	return int(float64(of) * share * (1 + float64(percent)/100*(2*r.unit()-1)))
}
