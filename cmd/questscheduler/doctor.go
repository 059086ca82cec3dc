package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"questscheduler/internal/config"
)

// doctorCommand checks what the server needs.
type doctorCommand struct{}

// Help is what --help says beside the flags.
func (doctorCommand) Help() string {
	return `It changes nothing, and may run beside the server. Outside this machine it calls only Firestore ` +
		`and Cloud Tasks, where those are used, and Google where it has a service account that reads second ` +
		`addresses; it tries simulators of Google and Discord, by QS_DISCORD_ENDPOINT or on the loopback ` +
		`interface. The exit code is 1 where something is wrong.

Example:

    questscheduler doctor`
}

// The verdicts of a check. A warning works, but may not be intended.
const (
	fine    = "ok"
	warning = "warning"
	wrong   = "wrong"
)

// finding is one line: what was checked, its state, and what to do about it.
type finding struct{ verdict, what, says string }

// doctor is what the checks work with.
type doctor struct {
	config   config.Config
	problems config.Problems
	client   *http.Client
	now      func() time.Time
}

// doctorPatience is how long one call may take.
const doctorPatience = 5 * time.Second

// checks are in the order of their lines.
var checks = []func(ctx context.Context, d doctor) []finding{
	checkSettings, checkStore, checkWork, checkCloudTasks, checkMachines, checkClock, checkSignInKey, checkFirebase,
	checkEncryptionKeys, checkGoogle,
	checkRedirect, checkSync, checkPublicURL, checkProxies, checkDiscord, checkInteractions, checkAttendees, checkAdmins,
}

// Run is the command.
func (doctorCommand) Run(ctx context.Context, process Process) error {
	cfg, problems, err := readSettings(process.Environ, config.Default())
	if err != nil {
		return err
	}
	d := doctor{config: cfg, problems: problems, now: time.Now, client: &http.Client{
		Timeout:       doctorPatience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	bad := 0
	for _, check := range checks {
		for _, found := range check(ctx, d) {
			if found.verdict == wrong {
				bad++
			}
			if _, err := fmt.Fprintf(process.Stdout, "%-8s %-15s %s\n", found.verdict, found.what, found.says); err != nil {
				return err
			}
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d of these lines say what is wrong; correct that and run it again", bad)
	}
	return nil
}

// faulty reports whether a setting has a problem. checkSettings prints it.
func (d doctor) faulty(name string) bool {
	return slices.ContainsFunc(d.problems, func(p config.Problem) bool { return p.Name == name || p.Name == name+"_FILE" })
}

// isSet reports whether a setting has a usable value.
func (d doctor) isSet(name, value string) bool { return value != "" && !d.faulty(name) }

// get returns the status of an address. authorization "" sends none.
func (d doctor) get(ctx context.Context, address, authorization string) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return 0, err
	}
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	response, err := d.client.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}
