package main

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"
)

// TestMirrors_OfAnAccountThatIsLinkedAgain_AreThereAgain: the overlay calendar that was left is
// used again.
func TestMirrors_OfAnAccountThatIsLinkedAgain_AreThereAgain(t *testing.T) {
	t.Parallel()
	job := newMirrorsJob(&outside{t, startDemo(t, dataDir(t))})
	for _, step := range []step{
		{"set the policy", job.setPolicy, job.follows}, {"meet in the other account", job.insertInSecond, job.follows},
	} {
		if err := step.act(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		eventually(t, step.name, step.then)
	}
	before, err := job.overlay(job.second)
	if err != nil || before == "" {
		t.Fatalf("the overlay calendar is %q, %v", before, err)
	}
	job.unlinkSecond()
	eventually(t, "unlink", job.isUnlinked)
	if err := job.insert(); err != nil {
		t.Fatal(err)
	}
	b := newBrowser(t)
	at, _ := b.visit(job.ready.API+"/demo/link?user=gm", "same-origin", nil)
	at, text := b.visit(at.String(), "same-origin", url.Values{"user": {"gm-second"}, "decision": {"allow"}})
	if at.Query().Get("account_id") != job.second.id {
		t.Fatalf("linking ends at %s: %s", at, text)
	}
	eventually(t, "link again", job.follows)
	if after, err := job.overlay(job.second); after != before {
		t.Errorf("the overlay calendar is %q, %v, was %q", after, err, before)
	}
}

// TestMirrors_ByHand_AreRespected: a copy that its owner deletes twice, or drags a fourth time
// in a day, is left alone, and goes with its event.
func TestMirrors_ByHand_AreRespected(t *testing.T) {
	t.Parallel()
	for state, c := range map[string]struct {
		times int // how often it is repaired
		act   func(s *mirrorsJob) error
	}{
		"SUPPRESSED": {1, (*mirrorsJob).deleteCopy},
		"CONTESTED":  {3, func(s *mirrorsJob) error { return s.dragAt(s.start, -5*time.Minute) }},
	} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			job := newMirrorsJob(&outside{t, startDemo(t, dataDir(t))})
			for _, act := range []func() error{job.setPolicy, job.insert} {
				if err := act(); err != nil {
					t.Fatal(err)
				}
				eventually(t, "begin", job.follows)
			}
			for turn := range c.times {
				if err := c.act(job); err != nil {
					t.Fatal(err)
				}
				eventually(t, fmt.Sprint("after turn ", turn), job.follows)
			}
			if err := c.act(job); err != nil {
				t.Fatal(err)
			}
			eventually(t, "left alone", func() error { return job.hasMirror(state) })
			if err := job.delete(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "delete it", job.follows)
		})
	}
}

// deleteCopy deletes the copy of the meeting by hand.
func (s *mirrorsJob) deleteCopy() error {
	return s.onCopyAt(s.start, http.MethodDelete, nil)
}

// hasMirror checks that the meeting has a mirror of a state.
func (s *mirrorsJob) hasMirror(state string) error {
	from := s.start.Format(time.RFC3339)
	data, err := s.v1("gm", "GET", "/events?start="+from+"&end="+s.start.Add(time.Second).Format(time.RFC3339), nil)
	if err != nil {
		return err
	}
	events := list(data["events"])
	if len(events) != 1 || len(list(events[0]["mirrors"])) != 1 || list(events[0]["mirrors"])[0]["state"] != state {
		return fmt.Errorf("the events are %v, want one with a mirror that is %s", events, state)
	}
	return nil
}
