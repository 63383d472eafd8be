package generator

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// language holds syllables and words of made-up place names.
type language struct {
	first, middle, last []string
	before, after       []string
}

var languages = []language{
	{ // close to West and Central Africa
		first:  words("Ba Bo Da Ka Ko Ma Mo Na Ngo Sa Ta Wa Zi Lu"),
		middle: words("ga la mba ndo ri so ta wé yé nga ru"),
		last:   words("bo dou ko ma ra ssi wa gou la"), before: words("Haut- Bas- Nord- Grand-"),
		after: words("-Est -Sud -Ville -Centre"),
	},
	{ // close to the Horn and the Middle East
		first: words("Al Bar Dar Hal Jab Kas Mar Nas Qal Sha Zar"), middle: words("a i u a' ai"),
		last: words("bad dan far kan mah rah sil wan ziya"), before: []string{"Al ", "Beit ", "Wadi "},
		after: []string{" City", " North", " West"},
	},
	{ // close to Latin America
		first: words("Ca Co Gua Ju La Ma Pa Que Sa Tu Va"), middle: words("ca li lla na ra ta zu chi ña"),
		last: words("ca res rín ma na pa quí rá les"), before: []string{"San ", "Santa ", "El ", "Puerto "},
		after: []string{" Alto", " del Norte", " de la Sierra"},
	},
	{ // close to Eastern Europe and Central Asia
		first: words("Bor Che Dob Gor Khar Lub Mir Nov Sta Zhy Ter"), middle: words("i o e y iv en"),
		last: words("grad ivka sk nia pil tsi chany rod myr"), before: []string{"Nova ", "Stara "},
		after: []string{"skyi", " Raion", " Hromada"},
	},
	{ // close to South and South-East Asia
		first: words("Ban Chi Kha Lam Mae Nam Pha Ra Su Tha Than"), middle: words("da ka li ma na pu ro wa"),
		last: words("bo jung kum nagar pur rai tang wady yin"), before: []string{"North ", "East ", "Kota "},
		after: []string{" Sadar", " Township", " Selatan"},
	},
}

func words(s string) []string { return strings.Fields(s) }

// place makes up the name of a place: about ten letters, sometimes with a word before or after it.
func (t *language) place(r *random) string {
	var b strings.Builder
	b.WriteString(pick(r, t.first))
	for range r.between(0, 2) {
		b.WriteString(pick(r, t.middle))
	}
	b.WriteString(pick(r, t.last))
	name := b.String()
	switch {
	case r.chance(12):
		name = pick(r, t.before) + name
	case r.chance(14):
		name += pick(r, t.after)
	}
	return name
}

// asSent is a provider's spelling of a place name of the list of codes.
func asSent(r *random, name string) string {
	switch r.below(10) {
	case 0:
		return strings.ToUpper(name)
	case 1:
		return accented.Replace(name)
	case 2:
		return strings.ReplaceAll(name, " ", "-")
	}
	return name
}

var accented = strings.NewReplacer("a", "á", "e", "é", "o", "ô", "i", "ï")

var (
	orgKinds = []string{
		"Association", "Action", "Aide", "Alliance", "Centre", "Comité", "Fundación", "Initiative",
		"Network", "Organisation", "Réseau", "Society", "Union", "Solidarité", "Relief", "Youth",
	}
	orgLinks = []string{"for", "of", "pour le", "de la", "para el", "and", "des"}
	orgGoals = []string{
		"Community Development", "Development", "Développement", "Education", "Environnement",
		"Health", "Human Rights", "Justice", "Paix", "Protection", "Recovery", "Santé", "Self-Reliance", "Water",
		"Women", "Agua y Vida", "Children",
	}
	orgPlaces = []string{
		"", "", " International", " in the North", " du Sud", " (consortium)", " - Field Office",
		" & Partners",
	}
	foodBases = []string{ // the n-th belongs to the n-th category, modulo their number
		"Rice", "Meat", "Milk", "Sugar", "Fuel", "Oil", "Beans", "Onions",
		"Maize", "Fish", "Cheese", "Salt", "Charcoal", "Ghee", "Lentils", "Tomatoes",
		"Sorghum", "Eggs", "Yogurt", "Tea", "Soap", "Palm oil", "Groundnuts", "Bananas",
	}
	foodKinds = []string{
		"", " (imported)", " (local)", " (white)", " (red)", " (dried)", " (fresh)",
		" (high quality)", " (low quality, 25% broken)", " (powder)", " (vegetable)",
		" (large, washed, packed for sale in towns)",
	}
	measures = []string{
		"KG", "L", "100 KG", "Pound", "50 KG", "MT", "Unit", "Day", "1.5 KG", "Head", "90 KG",
		"750 ML", "12.5 KG", "Dozen",
	}
	categories = []string{
		"cereals and tubers", "meat, fish and eggs", "milk and dairy", "miscellaneous food",
		"non-food", "oil and fats", "pulses and nuts", "vegetables and fruits",
	}
)

// orgName makes up an organisation. The acronym is its initials, so acronyms repeat.
func orgName(r *random) (acronym, name string) {
	parts := pick(r, orgKinds) + " " + pick(r, orgLinks) + " " + pick(r, orgGoals)
	if r.chance(55) {
		parts += " " + pick(r, orgLinks) + " " + pick(r, orgGoals)
	}
	name = parts + pick(r, orgPlaces)
	var b strings.Builder
	for _, word := range strings.Fields(parts) {
		if first, _ := utf8.DecodeRuneInString(word); len(word) > 2 || first < 'a' {
			b.WriteRune(first)
		}
	}
	if r.chance(30) {
		fmt.Fprintf(&b, "-%d", r.between(1, 99))
	}
	return strings.ToUpper(b.String()), name
}
