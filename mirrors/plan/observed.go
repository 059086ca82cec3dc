package plan

import (
	"slices"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
	"questscheduler/rules"
)

// Verdict is what an observation of a mirror's event means.
type Verdict string

// The verdicts.
const (
	// Ignored: it says nothing about the mirror, such as one of another generation, one older
	// than the last write, or one of a mirror that is left alone.
	Ignored Verdict = "ignored"
	// Early: the event was changed or deleted before the answer to its insert was recorded.
	// Written finds that.
	Early Verdict = "early"
	// Echo: the event is as we wrote it, or as it was last observed.
	Echo Verdict = "echo"
	// Drift: a person changed it; it is reverted.
	Drift Verdict = "drift"
	// GaveUp: a person changed it after three reverts within a day; it is CONTESTED.
	GaveUp Verdict = "contested"
	// Recreated: a person deleted it for the first time within a day.
	Recreated Verdict = "recreated"
	// LeftDeleted: a person deleted it again within a day, or after it was CONTESTED; it is
	// SUPPRESSED.
	LeftDeleted Verdict = "suppressed"
)

// Observed is the mirror after an observation of its event; a confirmed absence is an
// event of state rules.Gone. The document must be written if it differs from m. If m is
// the mirror of a series and its Generation changed, or it was LeftDeleted, Plan again in the
// same transaction: its exceptions went with it. After a Drift, Plan again what Reset returns.
func Observed(m mirror.Mirror, shown gcal.Event, now time.Time) (next mirror.Mirror, verdict Verdict) {
	shows := observedHash(shown)
	switch {
	case shown.ID == "" || shown.ID != m.EventID || shows == "" || deletes(m):
		return m, Ignored
	case m.ETag == "" && !restores(m, shown):
		return early(m, shown)
	case rules.Older(shown.Updated, m.AnsweredAt):
		return m, Ignored
	case m.State == mirror.Contested && gone(shown):
		m.State, m.DeletedAt, m.UpdatedAt = mirror.Suppressed, now, now
		return m, LeftDeleted
	case m.State != mirror.Active && m.State != mirror.Pending && m.State != mirror.Failed:
		return m, Ignored
	}
	isKnown := shows == m.Answered || shows == shownBy(m.Wanted)
	next = m
	next.Answered, next.AnsweredAt = shows, rules.Newest(m.AnsweredAt, shown.Updated)
	if shown.ETag != "" {
		next.ETag = shown.ETag
	}
	switch {
	case isKnown:
		next.Answered = m.Answered
		return next, Echo
	case gone(shown):
		return deletedByPerson(next, now)
	case m.State != mirror.Active: // a write is pending, which reverts it too
		next.Written = ""
		return next, Drift
	}
	return revert(next, now, mirror.Pending)
}

// Reset is a situation after a Drift of a mirror's event. If that gave a series another start, zone or rule,
// Google may have cancelled instances that stood for an exception. Nobody deleted those, so that Plan has
// each found and written again, also one that counts as left deleted.
func Reset(of Situation, series mirror.Mirror, shown gcal.Event) Situation {
	i := slices.IndexFunc(of.Events, func(e mirror.Event) bool { return e.ID == series.CanonicalID })
	if i < 0 || shown.Details == nil || stamp(Shown(*shown.Details)) == stamp(Project(of.Events[i], series.Detail)) {
		return of
	}
	of.Mirrors = slices.Clone(of.Mirrors)
	for i, m := range of.Mirrors {
		if m.SeriesMirrorID == series.ID {
			of.Mirrors[i].Wanted, of.Mirrors[i].DeletedAt = shownBy(m.Wanted), time.Time{}
		}
	}
	return of
}

// stamp identifies the starts of a series.
func stamp(c gcal.Content) string {
	return hash(append([]string{c.Start.String(), c.Start.Zone}, c.Recurrence...)...)
}

// early is an observation of an event whose insert is not known to have succeeded: a
// tombstone may be older than the insert, which fails then, or be of the event that another
// process just inserted.
func early(m mirror.Mirror, shown gcal.Event) (next mirror.Mirror, verdict Verdict) {
	shows := observedHash(shown)
	isAwaited := m.SeriesMirrorID == "" && (m.State == mirror.Pending || m.State == mirror.Failed)
	if !isAwaited || shows == shownBy(m.Wanted) || shows == m.Answered || rules.Older(shown.Updated, m.AnsweredAt) {
		return m, Ignored
	}
	m.Answered, m.AnsweredAt = shows, rules.Newest(m.AnsweredAt, shown.Updated)
	return m, Early
}

// restores reports whether a person made an instance live again that we deleted, of which no etag is known.
// What was listed before that may show it live too.
func restores(m mirror.Mirror, shown gcal.Event) bool {
	return m.State == mirror.Active && cancels(m) && !gone(shown) && !rules.Older(shown.Updated, m.LastWrite)
}

// isOvertaken reports whether the event was changed or deleted after the answer to its insert,
// and observed before that answer was recorded.
func isOvertaken(m mirror.Mirror, answer gcal.Event) bool {
	return m.ETag == "" && m.SeriesMirrorID == "" && m.Answered != "" && m.Answered != observedHash(answer) &&
		!rules.Older(m.AnsweredAt, answer.Updated)
}

// ObservedInstance is for an instance whose id no mirror has: shown.InstanceOf is the event
// of series, a mirror of of.Mirrors. If the mirror of an exception is meant, the observation is
// ignored, since its writer has yet to find the instance. Else a person changed or deleted
// one occurrence of the series, which has no document: the event of the series is replaced
// by its next generation, with all occurrences as wanted, and Plan must follow in the same
// transaction. That counts as a revert.
func ObservedInstance(of Situation, series mirror.Mirror, shown gcal.Event) (next mirror.Mirror, verdict Verdict) {
	shows := observedHash(shown)
	if shown.InstanceOf == "" || shown.InstanceOf != series.EventID || deletes(series) || shows == "" || shown.Details == nil {
		return series, Ignored
	}
	if series.State != mirror.Active && series.State != mirror.Pending && series.State != mirror.Failed {
		return series, Ignored
	}
	original := shown.Details.Original
	var master mirror.Event
	for _, event := range of.Events {
		if event.ID == series.CanonicalID {
			master = event
		}
		if event.OriginalStart.Equal(original) && event.SeriesID != "" && hasMirror(of.Mirrors, event.ID, series.ID) {
			return series, Ignored // the writer finds the instance
		}
	}
	if master.ID == "" || original.IsZero() || shows == Hash(instance(Project(master, series.Detail), original)) {
		return series, Echo
	}
	next, verdict = revert(series, of.Now, mirror.Deleting)
	next.Replacing = verdict == Drift
	return next, verdict
}

// mostReverts is how often a person's changes are reverted within a day.
const mostReverts = 3

// revert has the event written again, or replaced, as the state says.
func revert(m mirror.Mirror, now time.Time, state mirror.State) (mirror.Mirror, Verdict) {
	m.UpdatedAt = now
	m.Reverts = slices.DeleteFunc(slices.Clone(m.Reverts), func(at time.Time) bool { return !at.After(now.Add(-day)) })
	if len(m.Reverts) >= mostReverts {
		m.State, m.Due = mirror.Contested, time.Time{}
		return m, GaveUp
	}
	m.Reverts = append(m.Reverts, now)
	m.State, m.Due, m.Written, m.Attempts, m.LastError = state, now, "", 0, ""
	return m, Drift
}

// deletedByPerson keeps the event's id: of an instance, which is confirmed again under its
// id, and of an event that is left deleted.
func deletedByPerson(m mirror.Mirror, now time.Time) (mirror.Mirror, Verdict) {
	again := !m.DeletedAt.IsZero() && m.DeletedAt.After(now.Add(-day))
	m.DeletedAt, m.UpdatedAt = now, now
	switch {
	case again:
		m.State, m.Due = mirror.Suppressed, time.Time{}
		return m, LeftDeleted
	case m.SeriesMirrorID == "":
		return NextGeneration(m, now), Recreated
	}
	m.State, m.Due, m.Written, m.Attempts, m.LastError = mirror.Pending, now, "", 0, ""
	return m, Recreated
}

// observedHash is the Hash of what an event shows; "" if that is unknown.
func observedHash(shown gcal.Event) string {
	switch {
	case gone(shown):
		return wantsCancelled
	case shown.Details == nil || shown.EventState == rules.Unreadable:
		return ""
	}
	return Hash(Shown(*shown.Details))
}

// instance is the content of the occurrence of a series with an original start.
func instance(series gcal.Content, original recurrence.Moment) gcal.Content {
	length := series.End.Instant(time.UTC).Sub(series.Start.Instant(time.UTC))
	zones := [2]string{series.Start.Zone, series.End.Zone}
	series.Recurrence = nil
	if original.AllDay() {
		series.Start = recurrence.Moment{Date: original.Date}
		series.End = recurrence.Moment{Date: original.Instant(time.UTC).Add(length).Format(time.DateOnly)}
		return series
	}
	series.Start = recurrence.Moment{Time: original.Time, Zone: zones[0]}
	series.End = recurrence.Moment{Time: original.Time.Add(length), Zone: zones[1]}
	return series
}

func hasMirror(mirrors []mirror.Mirror, canonicalID, seriesMirrorID string) bool {
	return slices.ContainsFunc(mirrors, func(m mirror.Mirror) bool {
		return m.CanonicalID == canonicalID && m.SeriesMirrorID == seriesMirrorID
	})
}
