package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestAttendees_OfMeetings_FollowTheSheet(t *testing.T) {
	t.Parallel()
	job := newAttendeesJob(&outside{t, startDemo(t, dataDir(t))})
	for _, step := range job.steps() {
		if err := step.act(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		began := time.Now()
		eventually(t, step.name, step.then)
		t.Logf("%s: followed after %v", step.name, time.Since(began).Round(time.Millisecond))
	}
}

// What was decided already needs no write: a change of a meeting whose guests are as wanted
// costs no patch. A second meeting shows that the first one's change was handled.
func TestAttendees_ChangedMeeting_IsPatchedOnce(t *testing.T) {
	t.Parallel()
	job := newAttendeesJob(startCases(t))
	act := func(what string, act, then func() error) {
		t.Helper()
		if err := act(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		eventually(t, what, then)
	}
	act("invite Dora", func() error { return job.invite("plan", doraNorth) }, job.want("plan", doraNorth, doraSouth))
	for i := range 4 {
		act("change it", func() error {
			if err := job.rename("plan", fmt.Sprintf("Planning %d", i)); err != nil {
				return err
			}
			return job.invite(fmt.Sprint("other ", i), doraNorth)
		}, job.want(fmt.Sprint("other ", i), doraNorth, doraSouth))
	}
	counted := page(t, job.ready.API+"/metrics")
	for _, line := range []string{
		`attendee_patches_total{outcome="ok"} 5`, `attendee_addresses_total{change="invited"} 5`,
		`attendee_addresses_total{change="withdrawn"} 0`,
		`attendee_mappings{state="used"} 2`, `attendee_mappings_load_failures 0`, `attendee_events_in_error 0`,
	} {
		if !strings.Contains(counted, "\nquestscheduler_"+line+"\n") {
			t.Errorf("the metrics lack %s", line)
		}
	}
}

// Only an admin may load second addresses, and a demo without them says that they are off.
func TestReloadMappings_ByOthers_IsRefused(t *testing.T) {
	t.Parallel()
	o := startCases(t)
	address := o.ready.API + "/admin/reload-mappings"
	o.do(http.MethodPost, address, "Bearer "+o.ready.Users["gm"].Token, nil).want(t, http.StatusNotFound)
	o.do(http.MethodPost, address, "", nil).want(t, http.StatusUnauthorized)
	got := o.do(http.MethodPost, address, "Bearer "+o.ready.AdminToken, nil).want(t, http.StatusOK)
	if err := expect(got.body, map[string]any{
		"data.mappings": 2.0, "data.without_access": 0.0, "data.skipped_count": 0.0, "data.held": nil,
	}); err != nil {
		t.Error(err)
	}
	o.do(http.MethodPost, address, "Bearer "+o.ready.AdminToken, map[string]any{"confirm": "0123"}).want(t, http.StatusConflict)
}
