// Package atomicfile writes files that are complete whenever they can be seen under their name. It
// is the only place of the program that does so, with one level of durability: the content is
// synced before the file gets its name, and the directory after. When a write returns without an
// error, a power failure cannot undo it.
//
// A file is written under a temporary name in the directory that it stays in: a dot, the final
// name, and a random number. Its writer holds a lock on it, so that Sweep, which every new write in
// the directory begins with, can tell a slow writer from one that was killed.
//
// The library google/renameio does the writing, except where the final name depends on the content.
package atomicfile
