package health_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/operations/health"
	"questscheduler/scheduler"
)

// stands demands how the sync of a person stands as a whole, and by which codes.
func stands(t *testing.T, w *worldtest.World, person string, want health.Status, codes ...string) health.Report {
	t.Helper()
	report, err := w.Health.OfPerson(w.Context(), person)
	if err != nil {
		t.Fatal(err)
	}
	var wrong []string
	for _, account := range report.Accounts {
		for _, trouble := range account.Troubles {
			wrong = append(wrong, trouble.Code)
		}
		for _, calendar := range account.Calendars {
			for _, trouble := range calendar.Troubles {
				wrong = append(wrong, trouble.Code)
			}
		}
	}
	if report.Overall != want || fmt.Sprint(wrong) != fmt.Sprint(codes) {
		t.Fatalf("%s is %s by %v, want %s by %v", person, report.Overall, wrong, want, codes)
	}
	return report
}

func sweep(t *testing.T, w *worldtest.World) {
	t.Helper()
	if err := w.SweepPages(scheduler.Cause{Trigger: "sweep", Trace: "test"}); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
}

func TestOfPerson_WithoutALinkedAccount_IsHealthy(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	if report := stands(t, w, "ben", health.Healthy); len(report.Accounts) != 0 {
		t.Errorf("ben linked %+v", report.Accounts)
	}
	if report := stands(t, w, "gm", health.Healthy); len(report.Accounts) != 1 || len(report.Accounts[0].Calendars) != 0 {
		t.Errorf("gm linked one account, and no poll follows it: %+v", report.Accounts)
	}
}

func TestOfPerson_AfterASync_ShowsItsResult(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	report := stands(t, w, "gm", health.Healthy)
	calendar := report.Accounts[0].Calendars[0]
	if calendar.CalendarID != "gm@example.com" || calendar.Channel != health.ChannelActive || calendar.LastSuccess.IsZero() ||
		!calendar.ChannelExpiry.After(w.Clock.Now()) {
		t.Errorf("the calendar is %+v", calendar)
	}
	stands(t, w, "ana", health.Healthy) // another's troubles are not hers
}

func TestOfPerson_WhileGoogleIsDown_GetsWorseWithTheTime(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	_, _, event := w.Finalised()
	w.Refuse("events.list", http.StatusServiceUnavailable, "backendError", 0)
	w.MoveEvent("gm", event, worldtest.Noon)
	w.Run(time.Minute)
	since := stands(t, w, "gm", health.Degraded, "look_failed").Accounts[0].Calendars[0].Troubles[0].Since
	calls := w.Calls("")
	w.Clock.Advance(since.Add(6 * time.Hour).Sub(w.Clock.Now()))
	stands(t, w, "gm", health.Stale, "look_failed")
	w.Clock.Advance(18*time.Hour + time.Minute)
	stands(t, w, "gm", health.Unhealthy, "look_failed", "look_late")
	if w.Calls("") != calls {
		t.Error("Google was asked")
	}
	w.Heal()
	w.Run(time.Hour)
	stands(t, w, "gm", health.Healthy)
}

func TestOfPerson_ARevokedGrant_IsAnErrorUntilItIsLinkedAgain(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	_, _, event := w.Finalised()
	w.Revoke("gm")
	w.MoveEvent("gm", event, worldtest.Noon)
	w.Run(time.Minute)
	report := stands(t, w, "gm", health.Error, "token_expired")
	if troubles := report.Accounts[0].AllTroubles(); len(troubles) == 0 || !strings.Contains(troubles[0].Message, "Link it again") {
		t.Errorf("the troubles are %+v", troubles)
	}
	stands(t, w, "ana", health.Healthy)
	w.Link("gm")
	w.Clock.Advance(2 * time.Hour) // a sweep leaves out what was read within the hour
	sweep(t, w)
	stands(t, w, "gm", health.Healthy)
}

func TestOfPerson_AChannelThatEnded_IsDegradedUntilTheNextSweep(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	w.Clock.Advance(6 * 24 * time.Hour)
	sweep(t, w) // the channel is renewed
	stands(t, w, "gm", health.Healthy)
	w.Refuse("events.watch", http.StatusForbidden, "forbidden", 0)
	w.Clock.Advance(7 * 24 * time.Hour)
	if err := w.SweepPages(worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	stands(t, w, "gm", health.Degraded, "watch_failed")
	w.Heal()
	sweep(t, w)
	stands(t, w, "gm", health.Healthy)
}

func TestOfAccount_OfAnother_IsNotThere(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	account, err := w.Health.OfAccount(w.Context(), "gm", w.Account("gm"))
	if err != nil || account.ID != w.Account("gm") || account.Email != "gm@example.com" {
		t.Errorf("gm's is %+v, %v", account, err)
	}
	for _, id := range []string{w.Account("gm"), "acc_nobody", ""} {
		if _, err := w.Health.OfAccount(w.Context(), "ana", id); !fault.Is(err, fault.NotFound) {
			t.Errorf("%q of gm's as ana: %v", id, err)
		}
	}
}

func TestSurvey_CountsEverybody_AndListsTheUnhealthy(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	_, _, event := w.Finalised()
	w.FinalisedBy("ana")
	w.Run(time.Minute)
	w.Revoke("gm")
	w.MoveEvent("gm", event, worldtest.Noon)
	w.Run(time.Minute)
	var named []string
	counts, after, err := w.Health.Survey(w.Context(), "", func(account health.Account) {
		named = append(named, account.OwnerID+" "+string(account.Status))
	})
	if err != nil || after != "" || counts[health.Healthy] != 1 || counts[health.Error] != 1 || fmt.Sprint(named) != "[gm error]" {
		t.Errorf("counted %v and named %v, %v", counts, named, err)
	}
}

// A survey goes page by page, so that a task is enough for each, however many
// accounts there are.
func TestSurvey_GoesOnWhereItEnded(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	err := w.Documents.Run(w.Context(), func(_ context.Context, tx store.Tx) error {
		for i := range 250 {
			account := map[string]any{"ownerId": "gm", "status": "revoked", "createdAt": worldtest.Start.Add(time.Duration(i/7) * time.Second)}
			if err := tx.Create(store.Doc("accounts", fmt.Sprintf("acc-%03d", i)), account); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	met := 0
	pages := surveyed(t, w)
	for _, page := range pages {
		met += page
	}
	if len(pages) != 3 || met != 250 {
		t.Errorf("its pages have %v accounts that are not well", pages)
	}
}

// surveyed gives how many accounts that are not well each page of a survey has,
// none of which is met twice.
func surveyed(t *testing.T, w *worldtest.World) (pages []int) {
	t.Helper()
	met := map[string]bool{}
	for at := ""; ; {
		page := 0
		counts, next, err := w.Health.Survey(w.Context(), at, func(account health.Account) {
			page++
			if met[account.ID] {
				t.Errorf("%s is met twice", account.ID)
			}
			met[account.ID] = true
		})
		if err != nil || counts[health.Error] != page {
			t.Fatalf("counted %v, met %d, %v", counts, page, err)
		}
		pages = append(pages, page)
		at = next
		if at == "" {
			return pages
		}
	}
}

func TestPage_IsOfTheSizeThatIsAsked(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	w.FinalisedBy("ana")
	first, next, err := w.Health.Page(w.Context(), 1, nil)
	if err != nil || len(first) != 1 || next == nil {
		t.Fatalf("the first page is %+v, %v, %v", first, next, err)
	}
	second, _, err := w.Health.Page(w.Context(), 1, next)
	if err != nil || len(second) != 1 || second[0].ID == first[0].ID {
		t.Errorf("the second page is %+v, %v", second, err)
	}
}
