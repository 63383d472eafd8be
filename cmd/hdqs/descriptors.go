package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"syscall"

	"hdqs/api"
	"hdqs/internal/memory"
)

// maxReserved is the most descriptors that are kept from connections. A snapshot with bulk files
// keeps a few hundred files open, and three snapshots may be open at once.
const maxReserved = 4096

// The least limits of a process that serves. A snapshot has a file open for each table, and two are
// open at a swap. Go reserves address space that it does not use, and segments are mapped.
const (
	leastOpenFiles = 128
	leastAddresses = 4 << 30
)

// checkLimits returns an error where the process would end with a stack trace sooner or later.
func checkLimits() error {
	var files, addresses syscall.Rlimit
	err := errors.Join(syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files),
		syscall.Getrlimit(syscall.RLIMIT_AS, &addresses))
	switch {
	case err != nil:
		return err
	case files.Cur < leastOpenFiles:
		return fmt.Errorf("this process may open %d files, serve needs %d: raise LimitNOFILE= of the unit or ulimit -n",
			files.Cur, leastOpenFiles)
	case addresses.Cur < leastAddresses:
		return fmt.Errorf("the address space of this process is limited to %s, serve needs %s and room for the "+
			"segments: "+
			"remove LimitAS= of the unit or ulimit -v, and limit memory with MemoryMax= or --memory-limit",
			memory.Size(int64(addresses.Cur)), memory.Size(leastAddresses))
	}
	return nil
}

// limitConnections keeps a quarter of the process's descriptors from public connections, so that
// idle clients cannot keep the server from opening files and answering its admin listener.
func limitConnections(o *api.Options, log *slog.Logger) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	asked := cmp.Or(o.Connections, api.DefaultConnections)
	o.Connections = int(min(uint64(asked), limit.Cur-min(limit.Cur/4, maxReserved)))
	if o.Connections < asked {
		log.Info("fewer connections than --max-connections, since the process may open few files; "+
			"raise LimitNOFILE= of the unit or ulimit -n", "connections", o.Connections, "wanted", asked,
			"open_files", limit.Cur)
	}
	return nil
}
