package emulator

import (
	"os/exec"
	"runtime"
	"syscall"
)

// startBound starts a program that the kernel kills when this process ends,
// however it ends. The channel gives how the program ended.
func startBound(command *exec.Cmd) (<-chan error, error) {
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started, ended := make(chan error, 1), make(chan error, 1)
	go func() {
		// The signal comes with the end of the thread that started the program,
		// so this one is kept for as long as the program runs.
		runtime.LockOSThread()
		err := command.Start()
		started <- err
		if err == nil {
			ended <- command.Wait()
		}
	}()
	return ended, <-started
}
