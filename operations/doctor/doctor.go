// Package doctor checks what the server needs: its settings, and what they name. It changes nothing.
package doctor

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"questscheduler/internal/config"
)

// The verdicts of a check. A warning works, but may not be intended.
const (
	fine    = "ok"
	warning = "warning"
	wrong   = "wrong"
)

// finding is one line: what was checked, its state, and what to do about it.
type finding struct{ verdict, what, says string }

// Doctor checks settings and what they name.
type Doctor struct {
	Config   config.Config
	Problems config.Problems // what is wrong with the settings
	Now      func() time.Time
	Program  Program
	// Redirect is the address to which Google sends browsers back, and PushPath the path of its
	// pushes below the public address.
	Redirect, PushPath string
}

// patience is how long one call may take.
const patience = 5 * time.Second

// localClient makes calls on this machine.
var localClient = &http.Client{
	Timeout:       patience,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// checks are in the order of their lines.
var checks = []func(ctx context.Context, d Doctor) []finding{
	checkSettings, checkStore, checkWork, checkCloudTasks, checkMachines, checkClock, checkSignInKey, checkFirebase,
	checkEncryptionKeys, checkGoogle,
	checkRedirect, checkSync, checkPublicURL, checkProxies, checkDiscord, checkInteractions, checkNewcomers, checkAttendees, checkAdmins,
}

// Report writes a line for each finding as it is made. It is an error if something is wrong.
func (d Doctor) Report(ctx context.Context, out io.Writer) error {
	bad := 0
	for _, check := range checks {
		for _, found := range check(ctx, d) {
			if found.verdict == wrong {
				bad++
			}
			if _, err := fmt.Fprintf(out, "%-8s %-15s %s\n", found.verdict, found.what, found.says); err != nil {
				return err
			}
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d of these lines say what is wrong; correct that and run it again", bad)
	}
	return nil
}

// checkSettings lists what is wrong with the settings. The other checks skip those.
func checkSettings(_ context.Context, d Doctor) []finding {
	if len(d.Problems) == 0 {
		return []finding{{fine, "settings", "all can be used"}}
	}
	var found []finding
	for _, problem := range d.Problems {
		found = append(found, finding{wrong, "settings", problem.Name + " " + problem.Fix})
	}
	return found
}

// faulty reports whether a setting has a problem. checkSettings prints it.
func (d Doctor) faulty(name string) bool {
	return slices.ContainsFunc(d.Problems, func(p config.Problem) bool { return p.Name == name || p.Name == name+"_FILE" })
}

// isSet reports whether a setting has a usable value.
func (d Doctor) isSet(name, value string) bool { return value != "" && !d.faulty(name) }

// get returns the status of an address. authorization "" sends none.
func (d Doctor) get(ctx context.Context, address, authorization string) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return 0, err
	}
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	response, err := localClient.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}
