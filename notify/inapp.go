package notify

import (
	"context"
	"slices"
	"strings"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// inAppBatch is how many documents are written in one transaction.
const inAppBatch = 100

// tellInApp writes one document for each recipient, under an id that the
// transition gives, so that whichever run writes it there is one. A document
// that is there stays as it is: its owner may have read or dismissed it.
func (a *Announcer) tellInApp(ctx context.Context, t telling, c company) error {
	who, err := a.actor(ctx, t.told.Actor, c.poll)
	if err != nil {
		return err
	}
	waiting, over, err := a.splitNamed(ctx, t, c)
	if err != nil {
		return err
	}
	document := a.document(t, c.poll, who)
	id := notificationID(t.notice, t.pollID, t.told.Ref)
	for batch := range slices.Chunk(recipients(c, t.told.Actor, waiting), inAppBatch) {
		if err := a.createMissing(ctx, batch, id, document); err != nil {
			return err
		}
	}
	return a.record(ctx, t, func(_ context.Context, tx store.Tx, announcement poll.Announcement) error {
		delivery := poll.Delivery{Ref: t.told.Ref, At: store.Instant(a.Now())}
		updates := []store.Update{poll.DeliveryUpdate(ChannelInApp, delivery)}
		if len(over) > 0 {
			named := slices.DeleteFunc(announcement.Named, func(uid string) bool { return slices.Contains(over, uid) })
			updates = append(updates, poll.NamedUpdates(t.pollID, named)...)
		}
		return tx.Update(poll.AnnouncementPath(t.pollID), updates...)
	})
}

// splitNamed gives those whom somebody else put into the poll and who have not
// voted, and those whose being named is over: they have voted, or left.
func (a *Announcer) splitNamed(ctx context.Context, t telling, c company) (waiting, over []string, err error) {
	var paths []store.Path
	for _, uid := range t.named {
		path := poll.VotePath(t.pollID, uid)
		switch {
		case !slices.Contains(c.poll.ParticipantIDs, uid):
			over = append(over, uid)
		case c.group.Has(uid): // told as a member
		case path.Valid() == nil:
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		return nil, over, nil
	}
	votes, err := a.Store.GetAll(ctx, paths)
	for _, vote := range votes {
		if vote.Exists() {
			over = append(over, vote.Path.ID())
		} else {
			waiting = append(waiting, vote.Path.ID())
		}
	}
	return waiting, over, err
}

func (a *Announcer) createMissing(ctx context.Context, people []string, id string, document map[string]any) error {
	paths := make([]store.Path, len(people))
	for i, uid := range people {
		paths[i] = NotificationPath(uid, id)
	}
	return a.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		documents, err := tx.GetAll(ctx, paths)
		if err != nil {
			return err
		}
		for _, doc := range documents {
			if doc.Exists() {
				continue
			}
			if err := tx.Create(doc.Path, document); err != nil {
				return err
			}
		}
		return nil
	})
}

// recipients are the participants and the creator, without whoever caused the
// change and those who were named alone (waiting), sorted. An id that no document can have is nobody's: clients write
// participantIds themselves.
func recipients(c company, actor string, waiting []string) []string {
	people := append(c.poll.People(c.group), c.poll.CreatorID)
	people = slices.DeleteFunc(people, func(id string) bool {
		return id == "" || id == actor || slices.Contains(waiting, id) || strings.Contains(id, "/") || NotificationPath(id, "x").Valid() != nil
	})
	slices.Sort(people)
	return slices.Compact(people)
}

// actor is who caused a change, as documents name them; nil for nobody.
func (a *Announcer) actor(ctx context.Context, uid string, p poll.Poll) (map[string]any, error) {
	if uid == "" {
		return nil, nil
	}
	path := store.Doc("users", uid)
	var profile store.Fields
	if path.Valid() == nil {
		doc, err := a.Store.Get(ctx, path)
		if err != nil {
			return nil, err
		}
		profile = doc.Data
	}
	email := profile.String("email")
	if email == "" && uid == p.CreatorID {
		email = p.CreatorEmail
	}
	return map[string]any{
		"uid": uid, "email": store.NullIfEmpty(email), "displayName": store.NullIfEmpty(profile.String("displayName")),
	}, nil
}

// notificationID is the id of the document of a notice: the same for every
// recipient and every run.
func notificationID(notice rules.Notice, pollID, ref string) string {
	return "dedupe:" + dedupeKey(notice, pollID, ref)
}

func dedupeKey(notice rules.Notice, pollID, ref string) string {
	return string(notice) + ":" + pollID + ":" + ref
}

// document is what a recipient reads (users/{uid}/notifications). metadata names the
// poll and the actor as the web
// app's own notices do.
func (a *Announcer) document(t telling, p poll.Poll, actor map[string]any) map[string]any {
	words, at := texts[t.notice], t.told.Story.At
	title := plainTitle(p.Title, maxInAppTitle)
	metadata := map[string]any{"schedulerId": p.ID, "schedulerTitle": title}
	if !at.IsZero() {
		metadata["start"] = at.StartTime().Format(rules.InstantLayout)
		metadata["end"] = at.EndTime().Format(rules.InstantLayout)
		metadata["allDay"] = at.AllDay
	}
	var by any
	if actor != nil {
		by = actor
		metadata["actorUserId"], metadata["actorEmail"] = actor["uid"], actor["email"]
	}
	return map[string]any{
		"type":  string(t.notice),
		"title": words.title, "body": fill(words.body, title, inAppTime(at, p.Timezone)),
		"actionUrl": a.pollAddress(p.ID),
		"resource":  map[string]any{"type": "poll", "id": p.ID, "title": title},
		"actor":     by, "metadata": metadata,
		"dedupeKey": dedupeKey(t.notice, p.ID, t.told.Ref),
		"read":      false, "dismissed": false, "createdAt": store.Instant(a.Now()),
	}
}
