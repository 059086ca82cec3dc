package sqlite

import (
	"errors"
	"syscall"

	"questscheduler/fault"
)

// errSharing is ERROR_SHARING_VIOLATION: another process has the file open.
const errSharing syscall.Errno = 32

// lockFile locks the data file for this process; Unavailable where another has it. It
// opens a file beside it without sharing, which Windows closes when the process dies.
func lockFile(path string) (release func() error, err error) {
	name, err := syscall.UTF16PtrFromString(path + ".lock")
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the path of the data file cannot be used; name another file")
	}
	const shareNothing = 0
	handle, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, shareNothing, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, errSharing) {
		return nil, fault.Wrap(fault.Unavailable, err,
			"the data file is in use by another questscheduler process; stop that process or name another file")
	}
	if err != nil {
		return nil, fault.Wrap(
			fault.Unavailable, err, "the lock beside the data file cannot be opened; check that this user may write in its folder",
		)
	}
	return func() error { return syscall.CloseHandle(handle) }, nil
}
