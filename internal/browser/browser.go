package browser

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"hdqs/internal/testkit"
)

// Flags are those with which tests start Chromium: no windows, and no requests of its own.
var Flags = []string{
	"--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
	"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--no-proxy-server", "--hide-scrollbars",
}

// onlyLoopback lets names and addresses of other machines fail.
const onlyLoopback = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"

// Page is a tab of a Chromium of its own.
type Page struct {
	t       testing.TB
	session string
	folder  string // of downloads

	messages *testkit.Log

	mu        sync.Mutex
	in        io.Writer
	last      int
	answers   map[int]chan message
	loads     int
	elsewhere []string // requests to other machines
	faults    []string // of scripts and policies
	ended     chan struct{}
}

type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// Open starts Chromium with one page. It ends with the test.
func Open(t testing.TB) *Page {
	t.Helper()
	binary := testkit.Value(exec.LookPath("chromium"))(t)
	theirIn, in, err := os.Pipe()
	testkit.Must(t, err)
	out, theirOut, err := os.Pipe()
	testkit.Must(t, err)
	own := []string{onlyLoopback, "--remote-debugging-pipe", "--user-data-dir=" + t.TempDir()}
	command := exec.Command(binary, append(own, Flags...)...)
	command.ExtraFiles = []*os.File{theirIn, theirOut}
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var messages testkit.Log
	command.Stderr = &messages
	testkit.Must(t, command.Start())
	theirIn.Close()
	theirOut.Close()
	p := &Page{
		t: t, messages: &messages, in: in, answers: map[int]chan message{}, folder: t.TempDir(),
		ended: make(chan struct{}),
	}
	go p.listen(out)
	t.Cleanup(func() {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) // it has children
		_ = command.Wait()
		in.Close()
		<-p.ended
		out.Close()
	})
	var target struct {
		TargetID string `json:"targetId"`
	}
	p.ask(&target, "Target.createTarget", "url", "about:blank")
	var attached struct {
		SessionID string `json:"sessionId"`
	}
	p.ask(&attached, "Target.attachToTarget", "targetId", target.TargetID, "flatten", true)
	p.session = attached.SessionID
	p.ask(nil, "Page.enable")
	p.ask(nil, "Network.enable")
	p.ask(nil, "Runtime.enable")
	p.ask(nil, "Log.enable")
	p.ask(nil, "Emulation.setFocusEmulationEnabled", "enabled", true)
	p.ask(nil, "Browser.setDownloadBehavior", "behavior", "allow", "downloadPath", p.folder)
	p.ask(nil, "Browser.grantPermissions", "permissions", []string{"clipboardReadWrite", "clipboardSanitizedWrite"})
	return p
}

// listen reads what Chromium sends until it ends. Messages end with a zero byte.
func (p *Page) listen(out io.Reader) {
	defer close(p.ended)
	for reader := bufio.NewReaderSize(out, 1<<20); ; {
		text, err := reader.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(text[:len(text)-1], &m) != nil {
			continue
		}
		p.mu.Lock()
		if waiting := p.answers[m.ID]; waiting != nil {
			delete(p.answers, m.ID)
			waiting <- m
		} else {
			p.note(&m)
		}
		p.mu.Unlock()
	}
}

func (p *Page) note(m *message) {
	var e struct {
		Request struct {
			URL string `json:"url"`
		} `json:"request"`
		Entry struct {
			Level string `json:"level"`
			Text  string `json:"text"`
		} `json:"entry"`
		Details struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	_ = json.Unmarshal(m.Params, &e)
	switch m.Method {
	case "Page.loadEventFired":
		p.loads++
	case "Network.requestWillBeSent":
		if to, err := url.Parse(e.Request.URL); err != nil || to.Host != "" && to.Hostname() != "127.0.0.1" {
			p.elsewhere = append(p.elsewhere, e.Request.URL)
		}
	case "Log.entryAdded":
		if e.Entry.Level == "error" {
			p.faults = append(p.faults, e.Entry.Text)
		}
	case "Runtime.exceptionThrown":
		p.faults = append(p.faults, e.Details.Text+" "+e.Details.Exception.Description)
	}
}

// ask sends a command, with parameters given as name, value, name, value, and reads its result.
func (p *Page) ask(result any, method string, params ...any) {
	p.t.Helper()
	named := map[string]any{}
	for i := 0; i < len(params); i += 2 {
		named[fmt.Sprint(params[i])] = params[i+1]
	}
	text, err := json.Marshal(named)
	testkit.Must(p.t, err)
	answer := make(chan message, 1)
	p.mu.Lock()
	p.last++
	m := message{ID: p.last, Session: p.session, Method: method, Params: text}
	if text, err = json.Marshal(m); err == nil {
		p.answers[m.ID] = answer
		_, err = p.in.Write(append(text, 0))
	}
	p.mu.Unlock()
	testkit.Must(p.t, err)
	select {
	case m = <-answer:
	case <-p.ended:
		p.t.Fatalf("Chromium has ended before it answered %s\n%s", method, p.messages)
	case <-time.After(testkit.Patience):
		p.t.Fatalf("Chromium has not answered %s", method)
	}
	if m.Error != nil {
		p.t.Fatalf("%s: %s", method, m.Error.Message)
	}
	if result != nil {
		if err := json.Unmarshal(m.Result, result); err != nil {
			p.t.Fatalf("%s: %v", method, err)
		}
	}
}

// Elsewhere returns the requests to other machines, all of which failed.
func (p *Page) Elsewhere() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.elsewhere
}

// Faults returns errors of scripts, and of policies that forbade something.
func (p *Page) Faults() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.faults
}
