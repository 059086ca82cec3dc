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
	story := newMirrorsStory(&outside{t, startDemo(t, dataDir(t))})
	for _, step := range []step{{"set the policy", story.setPolicy, story.follows}, {"meet in the other account", story.insertInSecond, story.follows}} {
		if err := step.act(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		eventually(t, step.name, step.then)
	}
	before, err := story.overlay(story.second)
	if err != nil || before == "" {
		t.Fatalf("the overlay calendar is %q, %v", before, err)
	}
	story.unlinkSecond()
	eventually(t, "unlink", story.isUnlinked)
	if err := story.insert(); err != nil {
		t.Fatal(err)
	}
	b := newBrowser(t)
	at, _ := b.visit(story.ready.API+"/demo/link?user=gm", "same-origin", nil)
	at, text := b.visit(at.String(), "same-origin", url.Values{"user": {"gm-second"}, "decision": {"allow"}})
	if at.Query().Get("account_id") != story.second.id {
		t.Fatalf("linking ends at %s: %s", at, text)
	}
	eventually(t, "link again", story.follows)
	if after, err := story.overlay(story.second); after != before {
		t.Errorf("the overlay calendar is %q, %v, was %q", after, err, before)
	}
}

// TestMirrors_ByHand_AreRespected: a copy that its owner deletes twice, or drags a fourth time
// in a day, is left alone, and goes with its event.
func TestMirrors_ByHand_AreRespected(t *testing.T) {
	t.Parallel()
	for state, c := range map[string]struct {
		times int // how often it is repaired
		act   func(s *mirrorsStory) error
	}{
		"SUPPRESSED": {1, (*mirrorsStory).deleteCopy},
		"CONTESTED":  {3, func(s *mirrorsStory) error { return s.dragAt(s.start, -5*time.Minute) }},
	} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			story := newMirrorsStory(&outside{t, startDemo(t, dataDir(t))})
			for _, act := range []func() error{story.setPolicy, story.insert} {
				if err := act(); err != nil {
					t.Fatal(err)
				}
				eventually(t, "begin", story.follows)
			}
			for turn := range c.times {
				if err := c.act(story); err != nil {
					t.Fatal(err)
				}
				eventually(t, fmt.Sprint("after turn ", turn), story.follows)
			}
			if err := c.act(story); err != nil {
				t.Fatal(err)
			}
			eventually(t, "left alone", func() error { return story.hasMirror(state) })
			if err := story.delete(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "delete it", story.follows)
		})
	}
}

// deleteCopy deletes the copy of the meeting by hand.
func (s *mirrorsStory) deleteCopy() error {
	return s.onCopyAt(s.start, http.MethodDelete, nil)
}

// hasMirror checks that the meeting has a mirror of a state.
func (s *mirrorsStory) hasMirror(state string) error {
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
