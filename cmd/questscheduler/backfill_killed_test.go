package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
)

// pollsVariable is the number of existing polls in the test; `make backfill` sets it.
// kills is how often the program is killed.
const (
	pollsVariable = "QUESTSCHEDULER_BACKFILL_POLLS"
	fewPolls      = 140
	kills         = 5
)

func TestBackfill_OnFirestore_KilledAtRandom_AnnouncesNothing(t *testing.T) {
	t.Parallel()
	polls, err := strconv.Atoi(cmp.Or(os.Getenv(pollsVariable), strconv.Itoa(fewPolls)))
	if err != nil || polls < fewPolls {
		t.Fatalf("%s has to be a number from %d on", pollsVariable, fewPolls)
	}
	clock := time.Now()
	lap := func(what string) {
		t.Logf("%s took %v", what, time.Since(clock).Round(time.Millisecond))
		clock = time.Now()
	}
	d := newDeployment(t, polls, polls == fewPolls)
	lap("making " + strconv.Itoa(polls) + " polls of before")
	before := d.raw.all("schedulers")

	seed := uint64(time.Now().UnixNano()) //nolint:gosec // any will do
	t.Logf("the seed of the kills is %d", seed)
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // moments are no secret
	left := len(d.followed())
	for kill := range kills {
		lines := 1 + random.IntN(max(1, left/(kills-kill+1)))
		after := time.Duration(random.IntN(30)) * time.Millisecond
		done, ended := d.backfill("index", `msg="direct edit repaired"`, lines, after)
		if ended.Exited() {
			t.Fatalf("kill %d came too late: it ended with %d", kill, ended.ExitCode())
		}
		left -= done
		lap("run " + strconv.Itoa(kill+1) + ", killed after " + strconv.Itoa(lines) + " polls and " + after.String())
	}
	if _, ended := d.backfill("index", "", 0, 0); ended.ExitCode() != exitFailed {
		t.Errorf("with problems it ends with %d", ended.ExitCode())
	}
	lap("the run to its end")
	for calendars := len(d.tokens); calendars > kills; calendars /= 2 {
		if _, ended := d.backfill("watches", "events.watch", 1+random.IntN(calendars/3),
			time.Duration(random.IntN(10))*time.Millisecond); ended.Exited() {
			t.Errorf("a kill during the watches came too late: it ended with %d", ended.ExitCode())
		}
	}
	// A run that is killed while it awaits a channel's answer blocks that channel for a
	// minute.
	within(t, patience+2*time.Minute, "the watches", func() error {
		if _, ended := d.backfill("watches", "", 0, 0); ended.ExitCode() != exitOK {
			return fmt.Errorf("watches end with %d", ended.ExitCode())
		}
		return nil
	})
	lap("watches, killed too")
	d.rightInTheEnd(before)

	brought := map[string]map[string]map[string]any{}
	for _, collection := range []string{"schedulers", "calendarEventIndex", "calendars", "calendarWatches", "accounts"} {
		brought[collection] = d.raw.all(collection)
	}
	d.backfill("index", "", 0, 0)
	lap("a second run")
	d.backfill("watches", "", 0, 0)
	for collection, documents := range brought {
		if !reflect.DeepEqual(d.raw.all(collection), documents) {
			t.Errorf("a second run changes %s", collection)
		}
	}
	d.announcesNothing()
	if left := d.raw.all("backfills"); len(left) != 0 {
		t.Errorf("%d marks are left", len(left))
	}
}

// followed are the polls whose events are followed in the end, by event.
func (d *deployment) followed() map[string]former {
	followed := map[string]former{}
	for n, p := range d.polls {
		if !p.sort.followed {
			continue
		}
		if n+1 < len(d.polls) && d.polls[n+1].same && d.polls[n+1].id < p.id {
			p = d.polls[n+1] // of two, the first in the order of paths
		}
		followed[p.event] = p
	}
	return followed
}

// backfill runs a job in its own process and counts the lines with text: its own, and
// the simulator's for watch requests. It kills the process a duration after the last of
// so many lines; with 0 times the job runs to its end.
func (d *deployment) backfill(job, text string, times int, after time.Duration) (done int, ended *os.ProcessState) {
	d.t.Helper()
	command := exec.CommandContext(d.t.Context(), os.Args[0], "backfill", job) //nolint:gosec // it is this test itself
	command.Env = append(append(os.Environ(), asProgram+"=1"), d.environ...)
	said, err := command.StderrPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		d.t.Fatal(err)
	}
	lines := d.lines(said)
	for more := true; more; {
		var line string
		select {
		case line, more = <-lines:
		case line = <-d.watching:
		}
		if times == 0 || !strings.Contains(line, text) {
			continue
		}
		done++
		if done == times {
			time.AfterFunc(after, func() { _ = command.Process.Kill() }) // an error says that it had already exited
		}
	}
	_ = command.Wait() // its error is that it was killed, or that there were problems
	if d.locks != nil {
		d.locks.release(d.t.Context())
	}
	return done, command.ProcessState
}

// lines returns the lines that a process prints, and logs the unexpected ones.
func (d *deployment) lines(said io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(said); scanner.Scan(); {
			line := scanner.Text()
			if !strings.Contains(line, "level=INFO") && !strings.HasPrefix(line, "poll ") {
				d.t.Log(line)
			}
			lines <- line
		}
	}()
	return lines
}

// rightInTheEnd requires one entry for each followed event, calendars that count them,
// one channel per calendar, and polls with what the web app wrote.
func (d *deployment) rightInTheEnd(before map[string]map[string]any) {
	d.t.Helper()
	followed, counted := map[string]string{}, map[string]int{}
	for event, p := range d.followed() {
		followed["calendarEventIndex/"+event] = p.id
		counted[p.creator+"@example.com"]++
	}
	entries := map[string]string{}
	for path, fields := range d.raw.all("calendarEventIndex") {
		entries[path], _ = plain(fields["schedulerId"]).(string)
	}
	if !maps.Equal(entries, followed) {
		d.t.Errorf("%d events are followed, want %d, each by its own poll", len(entries), len(followed))
	}
	calendars := map[string]int{}
	for path, fields := range d.raw.all("calendars") {
		calendar := plainFields(fields)
		id, _ := calendar["calendarId"].(string)
		calendars[id], _ = strconv.Atoi(at(calendar, "interests", "poll").(string))
		known, _ := calendar["legacyEventIds"].([]any)
		pending, _ := at(calendar, "deferred", "poll").(map[string]any)
		if calendar["syncAsked"] != true || len(known) != counted[id] || len(pending) != counted[id] {
			d.t.Errorf("%s of %s: sync pending %v, %d events known and %d to fetch, want %d", path, id, calendar["syncAsked"],
				len(known), len(pending), counted[id])
		}
	}
	if !maps.Equal(calendars, counted) {
		d.t.Errorf("the calendars count %v, want %v", calendars, counted)
	}
	watched := map[string]int{}
	for _, fields := range d.raw.all("calendarWatches") {
		if watch := plainFields(fields); watch["status"] == "active" {
			watched[watch["calendarId"].(string)]++
		}
	}
	for id := range counted {
		if watched[id] != 1 {
			d.t.Errorf("%s has %d active channels", id, watched[id])
		}
	}
	d.keptInPolls(before)
	d.announcesNothing()
}

// keptInPolls requires that documents are unchanged, except for what following an event
// adds.
func (d *deployment) keptInPolls(before map[string]map[string]any) {
	d.t.Helper()
	after := d.raw.all("schedulers")
	if len(after) != len(before) {
		d.t.Errorf("%d polls became %d", len(before), len(after))
	}
	follow := d.followed()
	for _, p := range d.polls {
		path := "schedulers/" + p.id
		was, is := maps.Clone(before[path]), maps.Clone(after[path])
		if follow[p.event].id == p.id {
			if got := plain(is["googleCalendarId"]); got != p.creator+"@example.com" {
				d.t.Errorf("the event of %s (%s) is in %v", p.id, p.name, got)
			}
			if is["calendarSync"] == nil {
				d.t.Errorf("%s (%s) does not say how its event stands", p.id, p.name)
			}
			for _, added := range []string{"googleCalendarId", "calendarSync"} {
				delete(was, added)
				delete(is, added)
			}
		}
		if !reflect.DeepEqual(was, is) {
			d.t.Errorf("%s (%s) was %v and is %v", p.id, p.name, was, is)
		}
	}
}

// announcesNothing requires that no announcement was made or is due.
func (d *deployment) announcesNothing() {
	d.t.Helper()
	for _, collection := range []string{
		"announcements", "users/ana/notifications", "users/ben/notifications", "users/" + person(0) + "/notifications",
	} {
		if found := d.raw.all(collection); len(found) != 0 {
			d.t.Errorf("%s holds %d documents", collection, len(found))
		}
	}
}
