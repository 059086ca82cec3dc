package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"questscheduler/internal/config"
)

// doctorCommand checks what the server needs.
type doctorCommand struct{}

// Help is what --help says beside the flags.
func (doctorCommand) Help() string {
	return `It changes nothing, and may run beside the server. It calls nobody outside this machine but Firestore and Cloud Tasks, where those are ` +
		`the store and the queue; what stands in for Google or Discord, by QS_DISCORD_ENDPOINT or on the loopback interface, is tried. The exit code is 1 where something is wrong.

Example:

    questscheduler doctor`
}

// The verdicts of a check. A warning works, and may not be what was meant.
const (
	fine    = "ok"
	warning = "warning"
	wrong   = "wrong"
)

// finding is one line: what was looked at, how it is, and where something is to
// be done, what.
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

// checks are all checks, in the order of their lines.
var checks = []func(ctx context.Context, d doctor) []finding{
	checkSettings, checkStore, checkQueue, checkCloudTasks, checkMachines, checkClock, checkSignInKey, checkFirebase, checkEncryptionKeys, checkGoogle,
	checkRedirect, checkSync, checkPublicURL, checkProxies, checkDiscord, checkAdmins,
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
		return fmt.Errorf("%d of these lines say what is wrong; mend that and run it again", bad)
	}
	return nil
}

// faulty tells whether a setting has a problem that its own line has told.
func (d doctor) faulty(name string) bool {
	return slices.ContainsFunc(d.problems, func(p config.Problem) bool { return p.Name == name || p.Name == name+"_FILE" })
}

// isSet tells whether a setting has a value that can be used.
func (d doctor) isSet(name, value string) bool { return value != "" && !d.faulty(name) }

// get asks an address on this machine, or one that stands in for Discord's, and
// gives the status. authorization "" sends none.
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

// isLoopback tells whether an address is one of this machine's own.
func isLoopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
