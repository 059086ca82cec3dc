package notify

import (
	"context"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// InApp is the Channel of documents that the web app shows
// (users/{uid}/notifications). Store and Now are needed.
type InApp struct {
	Store  store.Store
	Now    func() time.Time
	AppURL string // the web app's address; "" makes links paths within the app
}

var _ DocumentChannel = (*InApp)(nil)

// Name implements Channel.
func (*InApp) Name() string { return "in-app" }

// Reaches implements Channel. Whom it reaches is read with the documents.
func (*InApp) Reaches(Message) bool { return true }

// Documents implements DocumentChannel. There is one document for each recipient, under an
// id that derives from the transition, except for those who muted the notice
// (preferences.go). A document that exists stays as it is: its owner may have read or
// dismissed it.
func (n *InApp) Documents(ctx context.Context, reader store.Reader, m Message) (*Documents, error) {
	people, over, err := n.recipients(ctx, reader, m)
	if err != nil || len(people) > batchSize {
		return nil, err
	}
	key, document, err := n.content(ctx, reader, m)
	if err != nil {
		return nil, err
	}
	people, err = withoutMuted(ctx, reader, people, m.Notice)
	if err != nil {
		return nil, err
	}
	missing, err := missingOf(ctx, reader, people, key, document)
	return &Documents{Missing: missing, Updates: namedUpdates(m.Poll.ID, m.Named, over)}, err
}

// Deliver implements Channel, for more recipients than one transaction takes: it writes
// their documents batch by batch.
func (n *InApp) Deliver(ctx context.Context, m Message) (Receipt, error) {
	people, over, err := n.recipients(ctx, n.Store, m)
	if err != nil {
		return Receipt{}, err
	}
	key, document, err := n.content(ctx, n.Store, m)
	if err != nil {
		return Receipt{}, err
	}
	for batch := range slices.Chunk(people, batchSize) {
		listening, err := withoutMuted(ctx, n.Store, batch, m.Notice)
		if err == nil {
			err = n.createMissing(ctx, listening, key, document)
		}
		if err != nil {
			return Receipt{}, err
		}
	}
	return Receipt{Record: func(_ context.Context, tx store.Tx, announcement poll.Announcement, _ poll.Delivery) error {
		if updates := namedUpdates(m.Poll.ID, announcement.Named, over); updates != nil {
			return tx.Update(poll.AnnouncementPath(m.Poll.ID), updates...)
		}
		return nil
	}}, nil
}

// namedUpdates are the announcement's fields once some people no longer count as named; nil
// if there are none.
func namedUpdates(pollID string, named, over []string) []store.Update {
	if len(over) == 0 {
		return nil
	}
	return poll.NamedUpdates(pollID, slices.DeleteFunc(slices.Clone(named), func(uid string) bool { return slices.Contains(over, uid) }))
}

// recipients are the participants, the members of the group and the creator, without the actor and
// without those whom somebody else named and who have not voted, sorted. over are those who no
// longer count as named: they voted, or left. If the creator is not in the group, only those of its
// members who voted are recipients, so that a person who left cannot reach all of it.
func (n *InApp) recipients(ctx context.Context, reader store.Reader, m Message) (people, over []string, err error) {
	group, members := m.Group, []string{}
	if !group.Has(m.Poll.CreatorID) {
		group, members = nil, m.Poll.People(group)[len(m.Poll.People(nil)):]
	}
	var unsure []string
	for _, uid := range m.Named {
		switch {
		case !slices.Contains(m.Poll.ParticipantIDs, uid):
			over = append(over, uid)
		case !group.Has(uid): // members are recipients anyway
			unsure = append(unsure, uid)
		}
	}
	voted, err := poll.Voted(ctx, reader, m.Poll, slices.Concat(unsure, members))
	if err != nil {
		return nil, nil, err
	}
	for _, uid := range unsure {
		if voted[uid] {
			over = append(over, uid)
		}
	}
	waiting := map[string]bool{}
	for _, uid := range slices.Concat(unsure, members) {
		waiting[uid] = !voted[uid]
	}
	people = slices.DeleteFunc(append(m.Poll.People(m.Group), m.Poll.CreatorID), func(id string) bool {
		return id == m.State.Actor || waiting[id] || !canNotify(id)
	})
	slices.Sort(people)
	return slices.Compact(people), over, nil
}

// createMissing writes a document for each person who has none with its key.
func (n *InApp) createMissing(ctx context.Context, people []string, key string, document map[string]any) error {
	return n.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		missing, err := missingOf(ctx, tx, people, key, document)
		if err != nil {
			return err
		}
		return create(tx, missing)
	})
}

// missingOf are the documents of those people who have none with the key.
func missingOf(ctx context.Context, reader store.Reader, people []string, key string, document map[string]any) ([]store.Document, error) {
	paths := make([]store.Path, len(people))
	for i, uid := range people {
		paths[i] = NotificationPath(uid, "dedupe:"+key)
	}
	documents, err := reader.GetAll(ctx, paths)
	if err != nil {
		return nil, err
	}
	var missing []store.Document
	for _, doc := range documents {
		if !doc.Exists() {
			missing = append(missing, store.Document{Path: doc.Path, Data: document})
		}
	}
	return missing, nil
}

func create(tx store.Tx, documents []store.Document) error {
	for _, doc := range documents {
		if err := tx.Create(doc.Path, doc.Data); err != nil {
			return err
		}
	}
	return nil
}

// canNotify reports whether an id can be a user's: clients write participantIds.
func canNotify(uid string) bool {
	return uid != "" && !strings.Contains(uid, "/") && NotificationPath(uid, "x").Valid() == nil
}

// content is what each recipient's document has, and the key in its id: a transition, of one poll,
// is announced once. Keys grow with time, so a person's newest document is written behind the others.
func (n *InApp) content(ctx context.Context, reader store.Reader, m Message) (key string, document map[string]any, err error) {
	actor, err := actorOf(ctx, reader, m.State.Actor, m.Poll)
	return m.State.Ref, n.document(m.State.Ref, m, actor), err
}

// actorOf is who caused a change, as documents name them; nil for nobody.
func actorOf(ctx context.Context, reader store.Reader, uid string, p poll.Poll) (map[string]any, error) {
	if uid == "" {
		return nil, nil
	}
	path := userPath(uid)
	var profile store.Fields
	if path.Valid() == nil {
		doc, err := reader.Get(ctx, path)
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

// document is what a recipient of m reads. metadata names poll and actor as the
// web app's own notifications do.
func (n *InApp) document(key string, m Message, actor map[string]any) map[string]any {
	title, at := plainTitle(m.Poll.Title, maxInAppTitle), m.State.State.At
	document := n.newDocument(key, Notification{
		Type: string(m.Notice), Title: spoken.Notices[m.Notice].Title, Body: m.Text(), ActionURL: PollURL(n.AppURL, m.Poll.ID),
		Resource: Resource{"poll", m.Poll.ID, title},
	})
	metadata := map[string]any{"schedulerId": m.Poll.ID, "schedulerTitle": title}
	if !at.IsZero() {
		metadata["start"] = rules.Instant(at.StartTime())
		metadata["end"] = rules.Instant(at.EndTime())
		metadata["allDay"] = at.AllDay
	}
	if actor != nil {
		document["actor"] = actor
		metadata["actorUserId"], metadata["actorEmail"] = actor["uid"], actor["email"]
	}
	document["metadata"] = metadata
	return document
}

// newDocument is a new notification of nobody, as it is stored.
func (n *InApp) newDocument(key string, shown Notification) map[string]any {
	about := shown.Resource
	return map[string]any{
		"type": shown.Type, "title": shown.Title, "body": shown.Body, "actionUrl": shown.ActionURL,
		"resource": map[string]any{"type": about.Type, "id": about.ID, "title": about.Title},
		"actor":    nil, "metadata": map[string]any{}, "dedupeKey": key,
		"read": false, "dismissed": false, "createdAt": store.Instant(n.Now()),
	}
}
