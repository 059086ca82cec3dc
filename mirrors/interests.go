package mirrors

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// Wishes are all that decides which calendars mirroring follows for a person. They are read
// in the transaction that changes one of them.
type Wishes struct {
	Person      mirror.Person
	Policies    []mirror.Policy
	Connections []mirror.Connection
	Accounts    []accounts.Account
	calendars   map[gcal.Ref]calendars.Calendar
}

// ReadWishes reads a person's wishes.
func ReadWishes(ctx context.Context, reader store.Reader, ownerID string) (w Wishes, err error) {
	w.Person, err = mirror.LoadPerson(ctx, reader, ownerID)
	if err != nil {
		return w, err
	}
	w.Policies, err = mirror.PoliciesOf(ctx, reader, ownerID)
	if err != nil {
		return w, err
	}
	w.Connections, err = mirror.ConnectionsOf(ctx, reader, ownerID)
	if err != nil {
		return w, err
	}
	w.Accounts, err = accounts.OfOwner(ctx, reader, ownerID)
	if err != nil {
		return w, err
	}
	known, err := calendars.OfOwner(ctx, reader, ownerID)
	w.calendars = map[gcal.Ref]calendars.Calendar{}
	for _, calendar := range known {
		w.calendars[refOf(calendar)] = calendar
	}
	return w, err
}

func refOf(calendar calendars.Calendar) gcal.Ref {
	return gcal.Ref{Account: calendar.AccountID, Calendar: calendar.CalendarID}
}

// wanted are the calendars that mirroring must follow: those that edges lead from, and of
// each account that mirrors go into the primary, whose native copies count, and the
// overlay calendar; and those with events made over REST.
func (w Wishes) wanted() map[gcal.Ref]bool {
	wanted, linked := map[gcal.Ref]bool{}, map[string]accounts.Account{}
	for _, account := range w.Accounts {
		if account.Status != accounts.Unlinked {
			linked[account.ID] = account
		}
	}
	want := func(accountID, calendarID string) {
		if calendarID != "" {
			wanted[gcal.Ref{Account: accountID, Calendar: calendarID}] = true
		}
	}
	for _, policy := range w.Policies {
		for _, edge := range policy.Edges {
			from, fromLinked := linked[edge.FromAccountID]
			to, toLinked := linked[edge.ToAccountID]
			if !fromLinked || !toLinked {
				continue
			}
			if edge.FromCalendarID != "" {
				want(from.ID, edge.FromCalendarID)
			} else {
				want(from.ID, primaryOf(from))
			}
			want(to.ID, primaryOf(to))
			if overlay := w.Person.Overlays[to.ID]; edge.Target == mirror.Overlay && !overlay.Suppressed {
				want(to.ID, overlay.CalendarID)
			}
		}
	}
	for _, connection := range w.Connections {
		if account, ok := linked[connection.AccountID]; ok {
			want(account.ID, primaryOf(account))
		}
	}
	for _, place := range w.Person.Followed {
		if _, ok := linked[place.AccountID]; ok {
			want(place.AccountID, place.CalendarID)
		}
	}
	return wanted
}

// follow has the calendars followed that a person wishes and the others not, and all events of
// the person planned again. Call begin after the commit; without it the drain finds the planning.
func (s *Service) follow(tx store.Tx, w Wishes, cause scheduler.Cause) (begin func(context.Context), err error) {
	request, wanted := cause.Request(s.now()), w.wanted()
	refs := maps.Clone(wanted)
	for ref := range w.calendars {
		refs[ref] = true
	}
	var changed []gcal.Ref
	for _, ref := range slices.SortedFunc(maps.Keys(refs), compareRefs) {
		calendar, known := w.calendars[ref]
		if !known {
			calendar = calendars.Calendar{Key: keyOf(ref), AccountID: ref.Account, CalendarID: ref.Calendar}
		}
		if wanted[ref] == (calendar.Interests[mirror.Consumer] > 0) {
			continue
		}
		var count int64
		if wanted[ref] {
			count = 1
		}
		if err := tx.Merge(calendars.Path(calendar.Key), calendar.Want(mirror.Consumer, count, request, w.Person.OwnerID)...); err != nil {
			return nil, err
		}
		changed = append(changed, ref)
	}
	updates := append(w.Person.RequestPlan(request.At, cause.Trace), store.Set("followed", mirror.EncodePlaces(w.Person.Followed)))
	for accountID, overlay := range w.Person.Overlays {
		updates = append(updates, store.Update{Path: store.Field("overlays", accountID), Value: mirror.EncodeOverlay(overlay)})
	}
	begin = func(ctx context.Context) { s.begin(ctx, w.Person.OwnerID, changed, cause) }
	return begin, tx.Merge(mirror.PersonPath(w.Person.OwnerID), updates...)
}

// begin begins, after a commit, what follow recorded. What fails is left to the drain.
func (s *Service) begin(ctx context.Context, ownerID string, changed []gcal.Ref, cause scheduler.Cause) {
	s.Outbox.Soon(ctx, PlanKind, ownerID, s.Now())
	for _, ref := range changed {
		if err := s.Follow(ctx, ref.Account, ref.Calendar, cause); err != nil {
			s.Log.WarnContext(ctx, "calendar for mirroring not watched yet", "calendar", ref.Calendar, "account", ref.Account,
				"trace", cause.Trace, "error", err)
		}
	}
}

// Rewrite follows and plans again what a person wishes, after one of the person's accounts
// changed. It is idempotent.
func (s *Service) Rewrite(ctx context.Context, ownerID string, cause scheduler.Cause) error {
	return s.following(ctx, func(ctx context.Context, tx store.Tx) (begin func(context.Context), err error) {
		return s.wish(ctx, tx, ownerID, cause, func(w *Wishes) (bool, error) { return !w.empty(), nil })
	})
}

// wish changes what a person wishes, and follows and plans that: see follow. Without a change it
// does nothing.
func (s *Service) wish(
	ctx context.Context, tx store.Tx, ownerID string, cause scheduler.Cause, change func(w *Wishes) (changed bool, err error),
) (begin func(context.Context), err error) {
	wishes, err := ReadWishes(ctx, tx, ownerID)
	if err != nil {
		return nil, err
	}
	if changed, err := change(&wishes); err != nil || !changed {
		return nil, err
	}
	return s.follow(tx, wishes, cause)
}

// following runs a transaction, and after its commit what it has begin, if anything.
func (s *Service) following(
	ctx context.Context, change func(ctx context.Context, tx store.Tx) (begin func(context.Context), err error),
) error {
	var begin func(context.Context)
	err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) (err error) {
		begin, err = change(ctx, tx)
		return err
	})
	if err == nil && begin != nil {
		begin(ctx)
	}
	return err
}

// empty reports whether the person never used mirroring.
func (w Wishes) empty() bool {
	return len(w.Policies) == 0 && len(w.Connections) == 0 && w.Person.PlanGeneration == 0
}

func keyOf(ref gcal.Ref) string { return poll.CalendarKey(ref.Account, ref.Calendar) }

func compareRefs(a, b gcal.Ref) int {
	return cmp.Or(strings.Compare(a.Account, b.Account), strings.Compare(a.Calendar, b.Calendar))
}
