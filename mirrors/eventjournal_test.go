package mirrors_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors"
	"questscheduler/scheduler"
)

// byGM is a request of gm's.
var byGM = scheduler.Cause{Trigger: "person", Trace: "req_gm", Person: gm}

// journal lists the steps of an event's origin as a person reads them, oldest first.
func (w *world) journal(person, id string) (steps []string) {
	w.Helper()
	next, err := w.events().Journal(w.ctx, person, id, store.Paging{Limit: 100}, func(entry mirror.JournalEntry) (bool, error) {
		if entry.MirrorID == "" {
			steps = append(steps, fmt.Sprint(entry.Before, ">", entry.After, " ", entry.Reason, " by ", entry.Who))
		}
		return true, nil
	})
	w.must(err)
	if next != nil {
		w.Error("the journal goes on")
	}
	slices.Reverse(steps)
	return steps
}

func TestJournal_OfAnEvent_SaysWhoDidWhat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mirrorWork()
	events := w.events()
	made, err := events.Create(w.ctx, gm, "request", dentist(), byGM)
	w.must(err)
	w.settle()
	_, err = events.Change(w.ctx, gm, made.ID, mirrors.Change{Title: new("Surgeon")}, byGM)
	w.must(err)
	w.settle()
	content := contentOf(w.atGoogle(made))
	content.Location = "Bern"
	_, err = w.full.PatchContent(w.ctx, refTo(work), made.EventID, "", content) // in the calendar itself
	w.must(err)
	w.sync(work)
	want := []string{">1 confirmed by gm", "1>2 confirmed by gm", "2>3 confirmed by "}
	if got := w.journal(gm, made.ID); !slices.Equal(got, want) {
		t.Errorf("the journal says %q, want %q", got, want)
	}
	w.must(events.Delete(w.ctx, gm, made.ID, nil, byGM))
	w.settle()
	if _, err := events.Get(w.ctx, gm, made.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("it is there: %v", err)
	}
	if got := w.journal(gm, made.ID); len(got) < 4 || got[3] != "3>4 cancelled by gm" {
		t.Errorf("after the deletion the journal says %q", got)
	}
}

func TestJournal_OfAnotherPersonsEvent_IsNotFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kept, gone := w.create(dentist()), w.create(dentist())
	w.must(w.events().Delete(w.ctx, gm, gone.ID, nil, byGM))
	for _, row := range [][2]string{
		{ana, kept.ID}, {ana, gone.ID}, {gm, "evt_none"}, {gm, ""}, {gm, "a/b"}, {ana, kept.ID + "_20260305T090000Z"},
	} {
		_, err := w.events().Journal(w.ctx, row[0], row[1], store.Paging{Limit: 10}, func(entry mirror.JournalEntry) (bool, error) {
			t.Errorf("%s reads %+v", row[0], entry)
			return true, nil
		})
		wantFault(t, row[1], err, fault.NotFound, "")
	}
}

// A group's event has mirrors of several people, whose steps are theirs alone.
func TestJournal_OfAnEventOfAGroup_ShowsOnesOwnMirrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(w.canonicalSession())
	w.connect(home, gm)
	w.must(w.memory.Run(w.ctx, func(_ context.Context, tx store.Tx) error {
		for i, entry := range []mirror.JournalEntry{
			{OwnerID: ana, MirrorID: "mir_ana"}, {OwnerID: gm, MirrorID: "mir_gm"}, {OwnerID: ana, After: "1"},
		} {
			entry.At, entry.Step = w.clock.Now(), mirror.StepObserved
			if err := tx.Set(mirror.EntryPath("evt_session", fmt.Sprint("jrn_", i)), mirror.EncodeEntry(entry)); err != nil {
				return err
			}
		}
		return nil
	}))
	var got []string
	_, err := w.events().Journal(w.ctx, gm, "evt_session", store.Paging{Limit: 10}, func(entry mirror.JournalEntry) (bool, error) {
		got = append(got, entry.ID)
		return true, nil
	})
	w.must(err)
	slices.Sort(got)
	if !slices.Equal(got, []string{"jrn_1", "jrn_2"}) {
		t.Errorf("gm reads %q", got)
	}
}

func TestJournal_OfAnOccurrence_IsItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	series, _ := w.weekly()
	address := series.ID + "_20260312T090000Z"
	if got := w.journal(gm, address); len(got) != 1 {
		t.Errorf("while it is as its series the journal says %q", got)
	}
	w.must(w.events().Delete(w.ctx, gm, address, nil, byGM))
	w.settle()
	if got := w.journal(gm, address); !slices.Equal(got, []string{">1 cancelled by gm"}) {
		t.Errorf("deleted, the journal says %q", got)
	}
	_, err := w.events().Journal(w.ctx, gm, series.ID+"_20260313T090000Z", store.Paging{Limit: 10}, nil)
	wantFault(t, "no occurrence", err, fault.NotFound, "")
}

func TestPolicies_Renamed_KeepTheirEdges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	policy := w.mirrorWork()
	renamed, err := w.policies.Rename(w.ctx, gm, policy.ID, " Other ")
	w.must(err)
	if renamed.Name != "Other" || renamed.Version != policy.Version+1 || len(renamed.Edges) != 1 {
		t.Errorf("it is %+v", renamed)
	}
	again, err := w.policies.Rename(w.ctx, gm, policy.ID, "Other")
	w.must(err)
	if again.Version != renamed.Version {
		t.Errorf("again it is %+v", again)
	}
	stored, err := w.policies.Get(w.ctx, gm, policy.ID)
	w.must(err)
	if fmt.Sprint(stored) != fmt.Sprint(renamed) {
		t.Errorf("stored is %+v", stored)
	}
	for name, kind := range map[string]fault.Kind{"": fault.Invalid, " ": fault.Invalid} {
		_, err := w.policies.Rename(w.ctx, gm, policy.ID, name)
		wantFault(t, "a bad name", err, kind, "")
	}
	_, err = w.policies.Rename(w.ctx, ana, policy.ID, "Mine")
	wantFault(t, "another person", err, fault.NotFound, "")
}

func TestPolicies_Deleted_TakeTheirMirrorsAlong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	policy := w.mirrorWork()
	w.insert(work, "Dentist", thursday)
	w.settle()
	w.sync(work)
	w.wantTitles(home, "Dentist")
	wantFault(t, "another person", w.policies.Delete(w.ctx, ana, policy.ID, cause), fault.NotFound, "")
	w.must(w.policies.Delete(w.ctx, gm, policy.ID, cause))
	w.settle()
	w.wantTitles(home)
	w.wantTitles(work, "Dentist")
	if all, err := w.policies.List(w.ctx, gm); err != nil || len(all) > 0 {
		t.Errorf("left are %+v, %v", all, err)
	}
	wantFault(t, "again", w.policies.Delete(w.ctx, gm, policy.ID, cause), fault.NotFound, "")
}

// faster is Google whose sync run of work's calendar is done before a call's answer arrives.
type faster struct {
	mirrors.EventGoogle
	w *world
}

func (f faster) InsertContent(
	ctx context.Context, ref gcal.Ref, id string, content gcal.Content, private map[string]string,
) (gcal.Event, error) {
	event, err := f.EventGoogle.InsertContent(ctx, ref, id, content, private)
	f.w.sync(work)
	return event, err
}

func (f faster) PatchContent(ctx context.Context, ref gcal.Ref, id, etag string, content gcal.Content) (gcal.Event, error) {
	event, err := f.EventGoogle.PatchContent(ctx, ref, id, etag, content)
	f.w.sync(work)
	return event, err
}

func (f faster) DeleteQuietly(ctx context.Context, ref gcal.Ref, id, etag string) (bool, error) {
	deleted, err := f.EventGoogle.DeleteQuietly(ctx, ref, id, etag)
	f.w.sync(work)
	return deleted, err
}

func TestJournal_SyncIsFaster_SaysWho(t *testing.T) {
	t.Parallel()
	for name, mirrored := range map[string]bool{"with mirrors": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			events := w.events()
			w.create(dentist()) // so that the calendar is followed
			if mirrored {
				w.mirrorWork()
			}
			w.settle()
			events.Google = faster{events.Google, w}
			made, err := events.Create(w.ctx, gm, "request", dentist(), byGM)
			w.must(err)
			_, err = events.Change(w.ctx, gm, made.ID, mirrors.Change{Title: new("Surgeon")}, byGM)
			w.must(err)
			content := contentOf(w.atGoogle(made))
			content.Location = "Bern"
			_, err = w.full.PatchContent(w.ctx, refTo(work), made.EventID, "", content) // in the calendar itself
			w.must(err)
			w.sync(work)
			_, err = events.Change(w.ctx, gm, made.ID, mirrors.Change{Title: new("Surgeon")}, byGM) // changes nothing
			w.must(err)
			w.must(events.Delete(w.ctx, gm, made.ID, nil, byGM))
			want := []string{
				">1 confirmed by ", "1>1 confirmed by gm", "1>2 confirmed by ", "2>2 confirmed by gm", "2>3 confirmed by ",
				"3>4 cancelled by ", "4>4 cancelled by gm",
			}
			got := w.journal(gm, made.ID)
			if len(got) > len(want) {
				got = got[:len(want)] // the document goes later
			}
			if !slices.Equal(got, want) {
				t.Errorf("the journal says %q, want %q", got, want)
			}
		})
	}
}

// A deletion that was another's, and a creation that was, are not this person's.
func TestJournal_OfWhatAnotherDid_NamesNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mirrorWork()
	made, err := w.events().Create(w.ctx, gm, "request", dentist(), byGM)
	w.must(err)
	w.settle()
	content := contentOf(w.atGoogle(made))
	content.Location = "Bern"
	_, err = w.full.PatchContent(w.ctx, refTo(work), made.EventID, "", content)
	w.must(err)
	_, err = w.events().Change(w.ctx, gm, made.ID, mirrors.Change{Title: new("Dentist")}, byGM) // changes nothing
	w.must(err)
	w.sync(work)
	_, err = w.events().Create(w.ctx, gm, "request", dentist(), byGM) // again
	w.must(err)
	_, err = w.full.DeleteQuietly(w.ctx, refTo(work), made.EventID, "")
	w.must(err)
	w.must(w.events().Delete(w.ctx, gm, made.ID, nil, byGM))
	if got := w.journal(gm, made.ID); len(got) < 3 || got[2] != "2>3 cancelled by " {
		t.Errorf("the journal says %q", got)
	}
	for _, step := range w.journal(gm, made.ID)[1:] {
		if strings.HasSuffix(step, "by gm") {
			t.Errorf("the journal says %q", w.journal(gm, made.ID))
		}
	}
}

// The document goes at once, and its journal stays.
func TestJournal_DeletedWithoutMirrors_SaysItOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, err := w.events().Create(w.ctx, gm, "request", dentist(), byGM)
	w.must(err)
	w.must(w.events().Delete(w.ctx, gm, made.ID, nil, byGM))
	want := []string{">1 confirmed by gm", "1>2 cancelled by gm"}
	if got := w.journal(gm, made.ID); !slices.Equal(got, want) {
		t.Errorf("the journal says %q, want %q", got, want)
	}
}
