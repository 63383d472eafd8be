package lang

// Head is what the head of every page says.
type Head struct {
	Language *Language
	Root     string // prefix of the mount: of the interface, files and the reference, which are English
	Prefix   string // of the pages in the language
	Host     string // of absolute addresses, empty if it is not known
	Title    string
	MadeUp   bool   // the figures are
	Ignored  string // parameters that the page does not have
	Feed     string // query of what changed of the country, group or list of the page, empty for all

	here string // path and query of the page below the prefix
}

// NewHead is the head of a page. here is its path and query below the prefix, empty for a page that
// is in one language only.
func NewHead(l *Language, root, host, here, title string, madeUp bool) Head {
	l = l.or()
	return Head{
		Language: l, Root: root, Prefix: root + l.Path, Host: host, Title: title, MadeUp: madeUp, here: here,
	}
}

// At is the head of another page of the same place.
func (h Head) At(title, here string) Head {
	h.Title, h.here = title, here
	return h
}

// version is a page in a language.
type version struct{ Code, Name, Address string }

// Versions are the page in all languages, or the start page in them if the page has one only.
func (h Head) Versions() (all []version) {
	here := h.here
	if here == "" {
		here = "/"
	}
	for _, l := range All() {
		all = append(all, version{l.Code, l.Name, h.Root + l.Path + here})
	}
	return all
}

// Canonical is the address of the page, empty for one in one language only.
func (h Head) Canonical() string {
	if h.here == "" {
		return ""
	}
	return h.Host + h.Prefix + h.here
}
