// Package browser drives Chromium for tests, as a reader with a keyboard does: it presses keys,
// looks at what has the focus, and takes pictures. Commands go over a pipe (the DevTools protocol),
// so no port is opened. Chromium can reach this machine only; requests to others fail and are
// noted.
package browser
