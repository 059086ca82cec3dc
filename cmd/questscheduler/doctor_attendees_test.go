package main

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"questscheduler/attendees/mappings"
	"questscheduler/demo"
	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
	"questscheduler/internal/store"
)

// mappedWorld is a simulator of Google with a sheet of second addresses that a service
// account may read, and its settings.
func mappedWorld(t *testing.T, rows [][]string, delegated bool) []string {
	t.Helper()
	sim, err := google.New(google.Options{Clock: control.NewClock(nil)})
	if err != nil {
		t.Fatal(err)
	}
	account := google.ServiceAccount{Email: "sync@p.iam.gserviceaccount.com"}
	if delegated {
		account.Domains, account.Scopes = []string{"north.example"}, []string{google.ScopeEvents}
	}
	key, err := sim.AddServiceAccount(account)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sim.AddUser(google.User{Key: "dora", Sub: "sub-dora", Email: doraNorth}); err != nil {
		t.Fatal(err)
	}
	sheet := google.Sheet{ID: "sheet-1", Tabs: map[string][][]string{}, Roles: map[string]google.Role{account.Email: google.Reader}}
	if rows != nil {
		sheet.Tabs[mappings.Tab] = rows
	}
	if err := sim.AddSheet(sheet); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(sim.Handler())
	t.Cleanup(server.Close)
	return []string{
		"QS_GOOGLE_ENDPOINT=" + server.URL, "QS_ATTENDEES_SHEET=sheet-1", "QS_ATTENDEES_DOMAINS=north.example",
		"QS_ATTENDEES_KEY=" + string(key),
	}
}

func TestDoctor_OfSecondAddresses_SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	header, dora := []string{"Primary", "Secondary", "Status"}, []string{doraNorth, doraSouth}
	file := filepath.Join(t.TempDir(), "users.csv")
	if err := os.WriteFile(file, []byte("primary,secondary,status\n"+doraNorth+","+doraSouth+",\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		settings []string
		code     int
		says     []string
	}{
		"all is well": {mappedWorld(t, [][]string{header, dora}, true), exitOK, []string{
			"ok       attendees       Google Sheet sheet-1, tab \"User Mappings\" has 1 rows, which give 1 addresses second ones",
			"ok       attendees       the service account acts as dora@north.example",
		}},
		"rows with mistakes": {mappedWorld(
			t, [][]string{header, dora, {"ben@elsewhere.example", "ben@south.example"}, {"nobody"}}, true,
		), exitOK, []string{
			"warning  attendees       2 rows are not taken: row 3: ", "; row 4: ",
		}},
		"no delegation": {mappedWorld(t, [][]string{header, dora}, false), exitFailed, []string{
			"wrong    attendees       the service account cannot act as dora@north.example: ", "calendar.events",
		}},
		"no such tab": {
			mappedWorld(t, nil, true), exitFailed,
			[]string{"wrong    attendees       Google Sheet sheet-1", "cannot be loaded: ", "User Mappings"},
		},
		"a header alone": {
			mappedWorld(t, [][]string{header}, true), exitFailed,
			[]string{"wrong    attendees       Google Sheet sheet-1", "cannot be used: "},
		},
		"a file": {[]string{"QS_ATTENDEES_CSV=" + file, "QS_ATTENDEES_DOMAINS=north.example"}, exitOK, []string{
			"ok       attendees       file " + file + " has 1 rows, which give 1 addresses second ones",
		}},
		"no such file": {
			[]string{"QS_ATTENDEES_CSV=" + file + "x", "QS_ATTENDEES_DOMAINS=north.example"}, exitFailed,
			[]string{"wrong    attendees       file "},
		},
		"read by a linked account": {
			[]string{"QS_ATTENDEES_SHEET=s", "QS_ATTENDEES_DOMAINS=north.example", "QS_ATTENDEES_ACCOUNT=acc_1"}, exitOK,
			[]string{"ok       attendees       the account acc_1 reads the sheet"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checked := run(t, settings(t.TempDir(), append(row.settings, "QS_SYNC=off")...), "doctor")
			checked.want(t, row.code, row.says...)
			if strings.Contains(checked.out+checked.errors, "PRIVATE KEY") {
				t.Error("it shows the key")
			}
		})
	}
	if off := run(t, settings(t.TempDir(), "QS_SYNC=off"), "doctor"); strings.Contains(off.out, "attendees") {
		t.Errorf("second addresses are off, and it says:\n%s", off.out)
	}
}

func TestDoctor_OfHeldMappings_SaysWhatTheyChange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	change(t, dir, func(tx store.Tx) error {
		return tx.Set(mappings.RecordPath(), mappings.EncodeRecord(mappings.Record{Held: mappings.Held{Version: "v2", Added: 7, Of: 9}}))
	})
	own := []string{"QS_ATTENDEES_SHEET=s", "QS_ATTENDEES_DOMAINS=north.example", "QS_ATTENDEES_ACCOUNT=acc_1", "QS_SYNC=off"}
	run(t, settings(dir, own...), "doctor").want(t, exitOK, "warning  attendees       7 second addresses are added at once to the 9 in use")
}

// What the demo did is explained beside the running server, by the event's iCalUID.
func TestExplain_OfSecondAddresses_ShowsTheirHistory(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	job := newAttendeesJob(&outside{t, startDemo(t, dir)})
	if err := job.invite("plan", doraNorth); err != nil {
		t.Fatal(err)
	}
	eventually(t, "invite Dora", job.want("plan", doraNorth, doraSouth))
	environ := append([]string{"QS_SQLITE_PATH=" + filepath.Join(dir, demo.StoreFile)}, placeOf(t, dir, nil).settings...)
	uid := job.meetings["plan"] + "@google.com"
	eventually(t, "what is explained", func() error {
		return lacks(run(t, environ, "explain", uid).out, "event      "+uid,
			"address    dora@south.example for dora@north.example: added by us", "emil@north.example")
	})
	run(t, environ, "explain", uid, "--json").want(t, exitOK, `"step": "added"`, `: organizer"`)
	run(t, environ, "explain", uid, "--replay").want(t, exitUsage, "only polls are replayed")
	run(t, environ, "explain", "nobody@google.com").want(t, exitFailed, "nothing is kept of second addresses")
}

// lacks is an error if a text lacks a part.
func lacks(text string, parts ...string) error {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return fmt.Errorf("it does not say %q:\n%s", part, text)
		}
	}
	return nil
}
