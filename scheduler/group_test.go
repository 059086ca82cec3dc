package scheduler_test

import (
	"errors"
	"strings"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// TestGroup_Error_NamesGroupAndVerb: a line of the log is to say what failed where.
func TestGroup_Error_NamesGroupAndVerb(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	ana, s := worldtest.Person("ana"), w.Scheduler
	for doing, do := range map[string]func() error{
		"read": func() error { _, err := s.Group(t.Context(), ana, "none"); return err },
		"update": func() error {
			_, err := s.UpdateGroup(t.Context(), ana, "none", scheduler.EditGroup{})
			return err
		},
		"accept invitation":  func() error { _, err := s.AcceptGroup(t.Context(), ana, "none"); return err },
		"decline invitation": func() error { return s.DeclineGroup(t.Context(), ana, "none") },
		"leave":              func() error { return s.LeaveGroup(t.Context(), ana, "none") },
	} {
		err := do()
		kind(t, err, fault.NotFound)
		if !strings.HasPrefix(errorText(err), "group none: "+doing+": ") {
			t.Errorf("%s: %v", doing, err)
		}
	}
	_, err := s.CreateGroup(t.Context(), ana, scheduler.EditGroup{})
	kind(t, err, fault.Invalid)
	if text := errorText(err); !strings.HasPrefix(text, "group ") || !strings.Contains(text, ": create: name ") {
		t.Errorf("create: %v", err)
	}
	_, err = s.UpdateGroup(
		t.Context(), worldtest.Admin, "none", scheduler.EditGroup{Discord: &poll.GroupDiscord{GuildID: "1", ChannelID: "2"}},
	)
	kind(t, err, fault.NotFound)
	if !strings.HasPrefix(errorText(err), "group none: update: ") {
		t.Errorf("update of Discord: %v", err)
	}
	if _, known := errors.AsType[*fault.Error](err); !known {
		t.Errorf("%v has no sentence for a person", err)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A name may stand in notices, on Discord and in the answers of other people.
func TestGroupName_Deceptive_IsRefused(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	name := "Party"
	group, err := w.Scheduler.CreateGroup(t.Context(), gm, scheduler.EditGroup{Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"Par\nty", "Party\x1b[2J", "Par\u202eyt", "Party\u2066"} {
		_, err := w.Scheduler.CreateGroup(t.Context(), gm, scheduler.EditGroup{Name: &bad})
		kind(t, err, fault.Invalid)
		_, err = w.Scheduler.UpdateGroup(t.Context(), gm, group.ID, scheduler.EditGroup{Name: &bad})
		kind(t, err, fault.Invalid)
	}
	if now, err := w.Scheduler.Group(t.Context(), gm, group.ID); err != nil || now.Name != name {
		t.Errorf("the group is %+v, %v", now, err)
	}
}
