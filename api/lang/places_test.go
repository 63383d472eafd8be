package lang

import "testing"

// TestPlaces: a country has a code, and names in all languages; what names several is none.
func TestPlaces(t *testing.T) {
	t.Parallel()
	var p Places
	for code, name := range map[string]string{
		"SDN": "Sudan", "SSD": "South Sudan", "TCD": "Chad", "CIV": "Côte d'Ivoire", "NER": "Niger",
		"NGA": "Nigeria",
		"SYR": "Syrian Arab Republic", "IRN": "Iran (Islamic Republic of)",
		"GNQ": "Equatorial Guinea", "X01": "Nowhere",
	} {
		p.Add(code, name)
	}
	for text, want := range map[string]string{
		"sdn": "SDN", " Soudan ": "SDN", "السودان": "SDN", "Sudán": "SDN", "Tchad": "TCD", "cote divoire": "CIV",
		"NIGER": "NER", "Niger ": "NER", "Nigeri": "NGA", "Syria": "SYR", "iran": "IRN", "Guinée équatoriale": "GNQ",
		"Soudan du Sud": "SSD", "nowhere": "X01", "Nige": "", "Atlantis": "", "": "", "su": "",
	} {
		if got := p.Find(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
