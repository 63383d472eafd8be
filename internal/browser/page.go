package browser

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"hdqs/internal/testkit"
)

// Goto opens an address and waits until it has loaded.
func (p *Page) Goto(address string) {
	p.t.Helper()
	p.loaded("the page at "+address, func() { p.ask(nil, "Page.navigate", "url", address) })
}

// loaded waits until what act does has loaded another page.
func (p *Page) loaded(what string, act func()) {
	p.t.Helper()
	count := func() int {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.loads
	}
	before := count()
	act()
	testkit.WaitFor(p.t, what, func() bool { return count() > before })
}

// Scripts says whether the pages that are opened from now on may run scripts.
func (p *Page) Scripts(allowed bool) {
	p.t.Helper()
	p.ask(nil, "Emulation.setScriptExecutionDisabled", "value", !allowed)
}

// Size sets the size of the window. A phone has a touch screen, and two pixels to each of the page.
func (p *Page) Size(width, height int, phone bool) {
	p.t.Helper()
	scale := 1
	if phone {
		scale = 2
	}
	p.ask(nil, "Emulation.setDeviceMetricsOverride", "width", width, "height", height, "deviceScaleFactor", scale,
		"mobile", phone)
}

// Media sets the medium, screen or print, and the colours, light or dark.
func (p *Page) Media(medium, scheme string) {
	p.t.Helper()
	p.ask(nil, "Emulation.setEmulatedMedia", "media", medium,
		"features", []map[string]string{{"name": "prefers-color-scheme", "value": scheme}})
}

// Eval returns the value of an expression on the page, as a text.
func (p *Page) Eval(expression string) string {
	p.t.Helper()
	var answer struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Details json.RawMessage `json:"exceptionDetails"`
	}
	p.ask(&answer, "Runtime.evaluate", "expression", expression, "returnByValue", true, "awaitPromise", true)
	if len(answer.Details) > 0 {
		p.t.Fatalf("%s: %s", expression, answer.Details)
	}
	var text string
	if json.Unmarshal(answer.Result.Value, &text) == nil {
		return text
	}
	return string(answer.Result.Value)
}

// Wait waits until an expression on the page is true.
func (p *Page) Wait(expression string) {
	p.t.Helper()
	testkit.WaitFor(p.t, expression, func() bool { return p.Eval("Boolean("+expression+")") == "true" })
}

// keys are the keys that have a name: the code of each, and the text that it types.
var keys = map[string]struct {
	code int
	text string
}{
	"Tab": {9, ""}, "Enter": {13, "\r"}, "Escape": {27, ""}, " ": {32, " "}, "End": {35, ""}, "Home": {36, ""},
	"ArrowLeft": {37, ""}, "ArrowUp": {38, ""}, "ArrowRight": {39, ""}, "ArrowDown": {40, ""},
}

// Press presses a key: one with a name, or a letter.
func (p *Page) Press(key string) {
	p.t.Helper()
	code, text := int(unicode.ToUpper([]rune(key)[0])), key
	if named, ok := keys[key]; ok {
		code, text = named.code, named.text
	}
	p.ask(nil, "Input.dispatchKeyEvent", "type", "keyDown", "key", key, "windowsVirtualKeyCode", code, "text", text)
	p.ask(nil, "Input.dispatchKeyEvent", "type", "keyUp", "key", key, "windowsVirtualKeyCode", code)
}

// Type presses the keys of a text, one after the other.
func (p *Page) Type(text string) {
	p.t.Helper()
	for _, letter := range text {
		p.Press(string(letter))
	}
}

// Control presses a letter with the control key, which does what it does in an editor: selectAll,
// copy or paste.
func (p *Page) Control(key, does string) {
	p.t.Helper()
	const control = 2
	code := int(unicode.ToUpper([]rune(key)[0]))
	p.ask(nil, "Input.dispatchKeyEvent", "type", "keyDown", "key", key, "windowsVirtualKeyCode", code,
		"modifiers", control, "commands", []string{does})
	p.ask(nil, "Input.dispatchKeyEvent", "type", "keyUp", "key", key, "windowsVirtualKeyCode", code,
		"modifiers", control)
}

// mostTabs is how often TabTo presses the key: no page has more than that.
const mostTabs = 600

// TabTo presses the tab key until an expression about the focused element, x, is true.
func (p *Page) TabTo(expression string) {
	p.t.Helper()
	test := "((x) => Boolean(" + expression + "))(document.activeElement)"
	for range mostTabs {
		p.Press("Tab")
		if p.Eval(test) == "true" {
			return
		}
	}
	p.t.Fatalf("the tab key never leads to %s at %s", expression, p.Eval("location.href"))
}

// Follow tabs to an element, presses a key, and waits for the next page.
func (p *Page) Follow(expression, key string) {
	p.t.Helper()
	p.TabTo(expression)
	p.loaded("the page behind "+expression, func() { p.Press(key) })
}

// Downloaded waits for a file whose name has an ending, and reads it.
func (p *Page) Downloaded(ending string) (name string, content []byte) {
	p.t.Helper()
	testkit.WaitFor(p.t, "a download", func() bool {
		files, err := os.ReadDir(p.folder)
		testkit.Must(p.t, err)
		for _, f := range files {
			// Others are not complete yet, nor is one without bytes, which only keeps the name.
			if info, err := f.Info(); err == nil && info.Size() > 0 && strings.HasSuffix(f.Name(), ending) {
				name = f.Name()
			}
		}
		return name != ""
	})
	return name, testkit.ReadFile(p.t, filepath.Join(p.folder, name))
}

// Picture returns what the window shows, as WebP.
func (p *Page) Picture(quality int) []byte {
	p.t.Helper()
	var shot struct {
		Data string `json:"data"`
	}
	p.ask(&shot, "Page.captureScreenshot", "format", "webp", "quality", quality)
	picture, err := base64.StdEncoding.DecodeString(shot.Data)
	testkit.Must(p.t, err)
	return picture
}
