package notify

import (
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/roundtrip"
	"questscheduler/rules"
)

// Every field that is written is read; title and text derive from the notice.
func TestNotification_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	const title = "Session"
	const ref = "jrn_1"
	words := English.Notices[rules.NoticeCancelled]
	roundtrip.Check(t, roundtrip.Codec[Notification]{
		Through: func(n Notification) Notification {
			a := &InApp{AppURL: "https://quests.example", Now: func() time.Time { return n.CreatedAt }}
			by := map[string]any{"uid": n.Actor.UserID, "email": n.Actor.Email, "displayName": n.Actor.DisplayName}
			document := a.document(
				"x",
				Message{Notice: rules.NoticeCancelled, State: poll.Message{Ref: ref}, Poll: poll.Poll{ID: n.Resource.ID, Title: n.Resource.Title}},
				by,
			)
			document["read"], document["dismissed"] = n.Read, n.Dismissed // its owner's
			return decodeNotification(roundtrip.Kept(t, NotificationPath("ana", n.ID), roundtrip.Whole(document)))
		},
		Fixed: map[string]any{
			"Type": string(rules.NoticeCancelled), "Title": words.Title, "Body": fill(words.Body[1], "{title}", title),
			"Resource.Type": "poll", "Resource.ID": "p1", "Resource.Title": title, "ActionURL": PollURL("https://quests.example", "p1"),
		},
	})
}

// If the hash changed, every card on Discord would be edited once more.
func TestCardHash_OfTheSameCard_StaysTheSame(t *testing.T) {
	t.Parallel()
	d := &Discord{AppURL: "https://quests.example", Votes: true}
	slot := poll.Slot{ID: "s1", Start: time.Unix(1801591200, 0).UTC(), End: time.Unix(1801602000, 0).UTC()}
	c := cardData{poll: poll.Poll{ID: "p1", Title: "Curse <of> Strahd", Status: rules.Open}, slots: []poll.Slot{slot}}
	if got := c.hash(d.card(c)); got != "159162727d391f3765269ffa227357ff" {
		t.Errorf("hash %s", got)
	}
}
