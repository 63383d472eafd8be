package snapshot

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
)

// pieceRead is how many bytes of a file are read at a time.
const pieceRead = 1 << 20

// readFile reads a whole file into memory, on so many cores. free gives the memory back. Bytes that
// cannot be read are ErrCorrupt: the disk fails, or the file became shorter.
func readFile(path string, cores int) (data []byte, free func() error, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	size := info.Size()
	switch {
	case size == 0:
		return nil, nil, corruptf("%s is empty", path)
	case size != int64(int(size)):
		return nil, nil, fmt.Errorf("%s has %d bytes, more than this machine can address", path, size)
	}
	if data, free, err = allocate(int(size)); err != nil {
		return nil, nil, fmt.Errorf("%d bytes of memory for %s: %w", size, path, err)
	}
	faults := make([]error, (len(data)+pieceRead-1)/pieceRead)
	inParallel(cores, len(faults), func(i int) {
		from := i * pieceRead
		piece := data[from:min(from+pieceRead, len(data))]
		populate(piece)
		n, err := f.ReadAt(piece, int64(from))
		if err != nil {
			faults[i] = corruptf("%s cannot be read from byte %d of %d on: %v", path, from+n, size, err)
		}
	})
	if err := errors.Join(append(faults, protect(data))...); err != nil {
		return nil, nil, errors.Join(err, free())
	}
	return data, free, nil
}

// inParallel calls do with the numbers from 0 to n-1, on so many cores, of which one is the
// caller's. It is no errgroup: a goroutine for each number took 4 % more CPU to check a segment.
func inParallel(cores, n int, do func(i int)) {
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			do(i)
		}
	}
	var others sync.WaitGroup
	for range min(cores, n) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}
