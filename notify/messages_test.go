package notify_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/notify"
	"questscheduler/rules"
)

const messagesFile = "testdata/messages.txt"

// timeTags is Discord's markup for times.
var timeTags = regexp.MustCompile(`<t:(\d+):([Ft])>`)

// shown is a text of Discord as it shows times to a reader in Berlin.
func shown(t *testing.T, text string) string {
	t.Helper()
	zone, err := poll.Zone("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return timeTags.ReplaceAllStringFunc(text, func(tag string) string {
		parts := timeTags.FindStringSubmatch(tag)
		seconds, err := strconv.ParseInt(parts[1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		layout := map[string]string{"F": "Monday, 2 January 2006 15:04", "t": "15:04"}[parts[2]]
		return time.Unix(seconds, 0).In(zone).Format(layout)
	})
}

// TestGolden_Messages_AreReadable writes all messages into one file for people.
func TestGolden_Messages_AreReadable(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	fmt.Fprintln(&out, "Every message as people read it. Discord's times are those that a reader in Berlin sees.")
	write := func(name string, w *world) {
		list, _, err := notify.List(t.Context(), w.store, "ana", store.Paging{Limit: 0})
		if err != nil || len(list) == 0 {
			t.Fatalf("%s: %d notices, %v", name, len(list), err)
		}
		lines := w.messages(channel)
		fmt.Fprintf(&out, "\n## %s\n\nIn the app:  %s\n             %s\nOn Discord:  %s\nCard:        %s, %s, %s\n", name,
			list[0].Title, list[0].Body, shown(t, lines[len(lines)-1].Content),
			w.field("Status"), w.field("Votes"), shown(t, w.field("Winning slot")))
	}
	w := announced(t)
	for _, step := range []struct {
		name   string
		change func()
	}{
		{"Rescheduled", func() { w.move(moved) }}, {"Rescheduled again", func() { w.move(movedOn) }}, {"Restored", w.restore},
		{"Cancelled", w.cancel}, {"On again", w.revive}, {"Cancelled once more", w.cancel},
		{"On again at another time", func() { w.revive(); w.move(moved) }},
	} {
		step.change()
		w.want("gm", 0)
		w.mustEnd()
		write(step.name, w)
		w.clock.add(time.Minute)
	}
	for _, row := range []struct{ name, to string }{
		{"Same day", "2027-02-02T20:00:00Z|2027-02-02T23:00:00Z|false"},
		{"A day earlier", "2027-02-01T18:00:00Z|2027-02-01T21:00:00Z|false"},
		{"Past midnight", "2027-02-02T23:30:00Z|2027-02-03T02:30:00Z|false"},
		{"A week later", "2027-02-09T18:00:00Z|2027-02-09T21:00:00Z|false"},
		{"Across the change of the clocks", "2027-03-30T17:00:00Z|2027-03-30T20:00:00Z|false"},
		{"Longer", "2027-02-02T18:00:00Z|2027-02-02T21:30:00Z|false"},
		{"All day", "2027-02-02|2027-02-03|true"},
		{"Two days, all day", "2027-02-03|2027-02-05|true"},
	} {
		to, err := rules.ParseFingerprint(row.to)
		if err != nil {
			t.Fatal(err)
		}
		w := announced(t)
		w.move(to)
		w.want("gm", 0)
		w.mustEnd()
		write("Rescheduled: "+row.name, w)
	}
	writeOwners(t, &out)
	if *update {
		if err := os.WriteFile(messagesFile, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(messagesFile)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("%s should be\n%s\n(go test ./notify -update writes it anew)", messagesFile, out.String())
	}
}

// writeOwners writes the notices for the owner of a calendar.
func writeOwners(t *testing.T, out *strings.Builder) {
	t.Helper()
	w := newWorld(t)
	owners := notify.Owners{
		InApp:    &notify.InApp{Store: w.store, Now: w.clock.Now, AppURL: appURL},
		Occasion: accountGrant,
	}
	for _, err := range []error{
		owners.NotifySyncError(t.Context(), "boss", "acc_1"), owners.NotifyUnlinked(t.Context(), "boss", "acc_2"),
		owners.NotifyHeld(t.Context(), "boss", "key", []string{"a"}), owners.NotifyHeld(t.Context(), "boss", "key", []string{"a", "b", "c"}),
		owners.NotifyLost(t.Context(), "boss", "key", w.clock.Now()),
	} {
		if err != nil {
			t.Fatal(err)
		}
		w.clock.add(time.Minute)
	}
	list, _, err := notify.List(t.Context(), w.store, "boss", store.Paging{Limit: 0})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(out, "\n## For the owner of a calendar, in the app\n")
	for _, notice := range list {
		fmt.Fprintf(out, "\n%s\n    %s\n", notice.Title, notice.Body)
	}
}

// A run that is repeated, and a resend, speak of the time before the move as the
// first attempt did, although the poll has moved on.
func TestTexts_RetriedAndResent_AreTheSame(t *testing.T) {
	t.Parallel()
	w, p, _ := paged(t)
	p.err = errors.New("the pager is off")
	if verdict := w.run(); verdict.Outcome != runFailed {
		t.Fatalf("the run ends as %+v", verdict)
	}
	p.err = nil
	w.move(movedOn)
	w.want("gm", 0)
	w.toTheEnd()
	wantTexts(t, "pager, of the first move", p.texts[:1], movedBody)
	second := p.texts[len(p.texts)-1]
	if !strings.Contains(second, "a day later, at the same time. It was planned for "+movedTime) || len(p.texts) != 2 {
		t.Errorf("the second move is announced as %q", p.texts)
	}
	w.write(func(tx store.Tx) error {
		return tx.Update(poll.AnnouncementPath(pollID), poll.ResendUpdates(w.announcement(), w.clock.Now())...)
	})
	w.toTheEnd()
	wantTexts(t, "pager, of the resend", p.texts[2:], second)
}

func accountGrant(context.Context, string) (string, error) { return "1", nil }
