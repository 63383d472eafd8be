package snapshot

import "golang.org/x/sys/unix"

// allocate returns memory that is not in the Go heap: the garbage collector does not count it, and
// it goes back to the system at once when free is called.
func allocate(size int) (data []byte, free func() error, err error) {
	data, err = unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, nil, err
	}
	return data, func() error { return unix.Munmap(data) }, nil
}

// populate gets the pages of memory of allocate at once. Getting each when it is written to first
// took a tenth more time to the first answer. Older kernels do not know the call.
func populate(data []byte) { _ = unix.Madvise(data, unix.MADV_POPULATE_WRITE) }

// protect makes memory of allocate read-only, so that a fault in the program cannot change it.
func protect(data []byte) error { return unix.Mprotect(data, unix.PROT_READ) }
