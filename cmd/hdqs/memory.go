package main

import (
	"fmt"
	"log/slog"
	"math"
	"os"
	"runtime/debug"
	"strconv"

	"hdqs/api/state"
	"hdqs/internal/memory"
)

// size is a flag with an amount of memory. With auto the amount follows from something else.
type size struct {
	bytes int64
	auto  bool
}

// Set reads an amount of memory. The flag parser adds the name of the flag and the value to an
// error.
func (s *size) Set(text string) (err error) {
	if s.auto = text == "auto"; s.auto {
		return nil
	}
	s.bytes, err = memory.ParseSize(text)
	return err
}

func (s *size) String() string {
	if s.auto {
		return "auto"
	}
	return strconv.FormatInt(s.bytes, 10)
}

func (s *size) Type() string { return "size" }

// leastMemory is the least limit that leaves something for a snapshot.
const leastMemory = 32 << 20

// apply sets how much memory the Go runtime may use, unless the environment does, and the option.
func (s *size) apply(o *state.Options, log *slog.Logger) error {
	group, err := memory.CgroupLimit()
	if err != nil {
		log.Warn("the memory limit of the control group could not be read", "error", err)
	}
	limit := group
	if !s.auto {
		limit = memory.Limit{Bytes: s.bytes, Source: "--memory-limit"}
		if s.bytes > 0 && s.bytes < leastMemory {
			return exitWith(exitUsage, fmt.Errorf("--memory-limit %d: want 0, or %s or more", s.bytes,
				memory.Size(leastMemory)))
		}
		if group.Bytes > 0 && s.bytes > group.Bytes {
			log.Warn("--memory-limit is above the limit of the control group, which ends the process first",
				"memory_limit", memory.Size(s.bytes), "control_group", memory.Size(group.Bytes))
		}
	}
	if limit.Bytes > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(state.HeapLimit(limit.Bytes))
	}
	if heap := debug.SetMemoryLimit(-1); limit.Bytes > 0 {
		log.Info("memory is limited", "limit", memory.Size(limit.Bytes), "by", limit.Source, "go", memory.Size(heap))
	} else if heap < math.MaxInt64 {
		log.Info("memory is limited", "by", "GOMEMLIMIT", "go", memory.Size(heap))
	}
	o.MemoryLimit = limit.Bytes
	return nil
}
