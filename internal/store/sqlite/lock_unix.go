//go:build unix

package sqlite

import (
	"errors"
	"os"
	"syscall"

	"questscheduler/fault"
)

// lockFile locks the data file for this process; Unavailable where another has it. The
// lock is on a separate file, since closing the data file would drop SQLite's own locks.
// The kernel releases it when the process dies. The lock file stays: after a removal two
// processes could lock two files of one name.
func lockFile(path string) (release func() error, err error) {
	file, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fault.Wrap(
			fault.Unavailable, err, "the lock beside the data file cannot be opened; check that this user may write in its folder",
		)
	}
	if err := flock(file, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		closing := file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fault.Wrap(fault.Unavailable, errors.Join(errors.New(path), closing),
				"the data file is in use by another questscheduler process; stop that process or name another file")
		}
		return nil, fault.Wrap(fault.Unavailable, errors.Join(err, closing),
			"the data file cannot be locked; put it on a disk that supports locks")
	}
	return func() error {
		// Closing alone would not unlock: a child process that is just starting has
		// the file open too.
		return errors.Join(flock(file, syscall.LOCK_UN), file.Close())
	}, nil
}

func flock(file *os.File, how int) error {
	for {
		err := syscall.Flock(int(file.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
