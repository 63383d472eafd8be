package country

import "testing"

func TestWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"24786370": "24.8 million", "7101895113": "7.1 billion", "17238": "17\u202f238", "999950000": "1 billion",
		"999949999": "999.9 million", "999999": "1 million", "949000": "949\u202f000", "0": "0", "-3.25": "\u22123.3",
		"52.328": "52.3", "8.0": "8", "14000000.0": "14 million", "": "", "1556235.0": "1.6 million", "0.04": "0",
	} {
		if got := Rounded(text); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
	for _, c := range [][4]string{
		{"2", "1", "189", "1 of 189 districts"},
		{"1", "17", "17", "17 of 17 provinces"},
		{"0", "", "", "the whole country"},
		{"", "3", "9", "3 of 9 units"},
		{"", "", "", ""},
		{"2", "", "", "districts"},
		{"7", "", "", ""},
	} {
		if got := coverageText(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("%v is %q", c, got)
		}
	}
}
