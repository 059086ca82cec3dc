package mirror

import (
	"context"
	"time"

	"questscheduler/internal/store"
)

// Path is where a mirror is.
func Path(id string) store.Path { return store.Doc("mirrors", id) }

// Encode gives the fields of a mirror.
func Encode(m Mirror) map[string]any {
	return map[string]any{
		"ownerId": m.OwnerID, "canonicalId": m.CanonicalID, "icalUid": m.ICalUID,
		"fromAccountId": m.FromAccountID, "fromCalendarId": m.FromCalendarID, "groupId": store.NullIfEmpty(m.GroupID),
		"targetAccountId": m.TargetAccountID, "targetCalendarId": m.TargetCalendarID, "target": string(m.Target),
		"detail": string(m.Detail), "seriesMirrorId": store.NullIfEmpty(m.SeriesMirrorID),
		"generation": m.Generation, "eventId": store.NullIfEmpty(m.EventID),
		"wanted": m.Wanted, "written": m.Written, "answered": m.Answered, "etag": m.ETag,
		"answeredAt": store.NullIfZero(m.AnsweredAt), "replacing": m.Replacing,
		"state": string(m.State), "due": store.NullIfZero(m.Due), "trace": store.NullIfEmpty(m.Trace),
		"notBefore": store.NullIfZero(m.NotBefore), "attempts": m.Attempts, "lastError": store.NullIfEmpty(m.LastError),
		"failedSince": store.NullIfZero(m.FailedSince),
		"lastWrite":   store.NullIfZero(m.LastWrite), "reverts": listOf(m.Reverts), "deletedAt": store.NullIfZero(m.DeletedAt),
		"ends": store.NullIfZero(m.Ends), "createdAt": m.CreatedAt, "updatedAt": m.UpdatedAt,
	}
}

// Decode reads a mirror.
func Decode(doc store.Document) Mirror {
	f := store.Fields(doc.Data)
	return Mirror{
		ID: doc.Path.ID(), OwnerID: f.String("ownerId"), CanonicalID: f.String("canonicalId"), ICalUID: f.String("icalUid"),
		FromAccountID: f.String("fromAccountId"), FromCalendarID: f.String("fromCalendarId"), GroupID: f.String("groupId"),
		TargetAccountID: f.String("targetAccountId"), TargetCalendarID: f.String("targetCalendarId"), Target: Target(f.String("target")),
		Detail: Detail(f.String("detail")), SeriesMirrorID: f.String("seriesMirrorId"),
		Generation: f.Int("generation"), EventID: f.String("eventId"),
		Wanted: f.String("wanted"), Written: f.String("written"), Answered: f.String("answered"), ETag: f.String("etag"),
		AnsweredAt: f.Time("answeredAt"), Replacing: f.Bool("replacing"), State: State(f.String("state")), Due: f.Time("due"),
		Trace: f.String("trace"), NotBefore: f.Time("notBefore"), Attempts: f.Int("attempts"), LastError: f.String("lastError"),
		FailedSince: f.Time("failedSince"),
		LastWrite:   f.Time("lastWrite"), Reverts: times(f.List("reverts")), DeletedAt: f.Time("deletedAt"),
		Ends: f.Time("ends"), CreatedAt: f.Time("createdAt"), UpdatedAt: f.Time("updatedAt"),
	}
}

// Load reads a mirror; ok is false if there is none.
func Load(ctx context.Context, reader store.Reader, id string) (m Mirror, ok bool, err error) {
	if Path(id).Valid() != nil {
		return Mirror{}, false, nil //nolint:nilerr // the private mark of an event may hold anything
	}
	doc, err := reader.Get(ctx, Path(id))
	if err != nil || !doc.Exists() {
		return Mirror{}, false, err
	}
	return Decode(doc), true, nil
}

func listOf(times []time.Time) []any {
	list := make([]any, len(times))
	for i, at := range times {
		list[i] = at
	}
	return list
}

func times(list []any) (all []time.Time) {
	for _, item := range list {
		if at, ok := item.(time.Time); ok {
			all = append(all, at)
		}
	}
	return all
}
