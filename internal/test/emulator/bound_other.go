//go:build !linux

package emulator

import (
	"os/exec"
)

// startBound starts a program below a shell that kills it when this process,
// which holds the other end of the shell's input, is gone. The channel gives
// how the program ended.
func startBound(command *exec.Cmd) (<-chan error, error) {
	const keep = `"$@" & child=$!; cat >/dev/null; kill -9 $child`
	shell, err := exec.LookPath("sh")
	if err != nil {
		return nil, err
	}
	command.Args = append([]string{shell, "-c", keep, "sh", command.Path}, command.Args[1:]...)
	command.Path = shell
	if _, err := command.StdinPipe(); err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	return ended, nil
}
