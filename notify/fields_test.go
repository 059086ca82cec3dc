package notify

import (
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/roundtrip"
	"questscheduler/rules"
)

// What the program writes, it reads; its title and text are made of the notice.
func TestNotification_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	const title = "Session"
	const ref = "jrn_1"
	words := texts[rules.NoticeCancelled]
	roundtrip.Check(t, roundtrip.Codec[Notification]{
		Through: func(n Notification) Notification {
			a := &Announcer{AppURL: "https://quests.example", Now: func() time.Time { return n.CreatedAt }}
			by := map[string]any{"uid": n.Actor.UserID, "email": n.Actor.Email, "displayName": n.Actor.DisplayName}
			document := a.document(telling{notice: rules.NoticeCancelled, told: poll.Told{Ref: ref}}, poll.Poll{ID: n.Resource.ID, Title: n.Resource.Title}, by)
			document["read"], document["dismissed"] = n.Read, n.Dismissed // its owner's
			return decodeNotification(roundtrip.Kept(t, NotificationPath("ana", n.ID), roundtrip.Whole(document)))
		},
		Fixed: map[string]any{
			"Type": string(rules.NoticeCancelled), "Title": words.title, "Body": fill(words.body, title, ""),
			"Resource.Type": "poll", "Resource.ID": "p1", "Resource.Title": title, "ActionURL": (&Announcer{AppURL: "https://quests.example"}).pollAddress("p1"),
		},
	})
}
