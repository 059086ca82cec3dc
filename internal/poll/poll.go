// Package poll holds the documents of a poll as types, and their codec: poll, slot, vote,
// group, snapshot, journal entry, announcement, intent, index entry.
//
// The web app reads and writes the documents below schedulers and questingGroups itself. They
// are read leniently and written by named fields only, so unknown fields survive.
package poll

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// Poll is a document of schedulers: the fields of it that this backend knows.
type Poll struct {
	ID             string
	Title          string
	Description    string
	CreatorID      string
	CreatorEmail   string
	Status         rules.Status
	ParticipantIDs []string
	// JoinedIDs are those participants who joined, accepted or voted over the API. The server
	// alone writes them; who left the participants counts no more (Consented).
	JoinedIDs        []string
	PendingInvites   []string // e-mail addresses in lower case
	AllowLinkSharing bool
	Timezone         string // IANA name, or "" for none
	WinningSlotID    string
	GoogleEventID    string
	GoogleCalendarID string
	GroupID          string
	GroupName        string
	// SlotPriority is finalizedSlotPriorityAtMs: by slot id, when it was first finalised.
	SlotPriority map[string]int64
	// FinalizedAt is finalizedAtMs: when the poll was finalised last; zero: never, or unknown.
	FinalizedAt time.Time
	Discord     Card
	Cancelled   *Cancelled
	// Untouched reports whether nobody has written the document since it was made, if the store
	// knows.
	Untouched bool
	// HasCancelledAt reports whether cancelledAt is set. The web app treats that as a
	// cancellation too.
	HasCancelledAt bool
	// Votes is who sees others' votes.
	Votes     VoteVisibility
	Sync      Sync
	CreatedAt time.Time
	UpdatedAt time.Time
	// Made is when the document was made (store.Document.Made); no field holds it.
	Made int64

	// namesCalendar reports whether googleCalendarId is there, null or not. Clients do not write
	// it into a poll that exists.
	namesCalendar bool
	// stored is the document that the poll was read from, which is only read; the zero one for
	// none.
	stored store.Document
}

// Cancelled says when and why a poll was cancelled.
type Cancelled struct {
	At     time.Time
	Reason string // rules.ReasonManual, rules.ReasonCalendarDeleted or the web app's own
}

// Card is schedulers.discord: where the poll's card stands.
type Card struct {
	MessageID    string
	ChannelID    string
	GuildID      string
	MessageURL   string
	NotifyRoleID string
	Hash         string // lastSyncedHash: of what the card showed last
	Error        string // pendingSyncError
}

// ShownIn reports whether the card is in a channel, as far as is known without a problem.
func (c Card) ShownIn(channelID string) bool {
	return c.MessageID != "" && c.ChannelID == channelID && c.Error == ""
}

// Path is where the document of a poll is.
func Path(id string) store.Path { return store.Doc("schedulers", id) }

// Load reads a poll; NotFound where there is none.
func Load(ctx context.Context, reader store.Reader, id string) (Poll, error) {
	doc, err := reader.Get(ctx, Path(id))
	if err != nil {
		return Poll{}, err
	}
	if !doc.Exists() {
		return Poll{}, ErrNotFound()
	}
	return Decode(doc), nil
}

// ErrNotFound is the error of a poll that is not there, or that a person may not see.
func ErrNotFound() error {
	return fault.New(fault.NotFound, "There is no such poll, or you may not see it. Check the link or ask its creator to invite you.")
}

// Decode reads a poll's document.
func Decode(doc store.Document) Poll {
	f := store.Fields(doc.Data)
	p := Poll{
		ID: doc.Path.ID(), Title: f.String("title"), Description: f.String("description"),
		CreatorID: f.String("creatorId"), CreatorEmail: f.String("creatorEmail"),
		Status:         rules.Status(f.String("status")),
		ParticipantIDs: f.Strings("participantIds"), JoinedIDs: f.Strings("joinedIds"), PendingInvites: f.Strings("pendingInvites"),
		AllowLinkSharing: f.Bool("allowLinkSharing"), Timezone: f.String("timezone"),
		WinningSlotID: slotNamed(f.String("winningSlotId")), GoogleEventID: f.String("googleEventId"),
		GoogleCalendarID: f.String("googleCalendarId"),
		GroupID:          f.String("questingGroupId"), GroupName: f.String("questingGroupName"),
		Discord:   decodeCard(f.Map("discord")),
		Cancelled: decodeCancelled(f.Map("cancelled")), HasCancelledAt: truthy(f["cancelledAt"]),
		Votes:     decodeVoteVisibility(f),
		Sync:      decodeSync(f.Map("calendarSync")),
		CreatedAt: f.Time("createdAt"), UpdatedAt: f.Time("updatedAt"), Made: doc.Made,
		Untouched: doc.Made != 0 && doc.Written == doc.Made,
		stored:    doc,
	}
	_, p.namesCalendar = doc.Data["googleCalendarId"]
	if p.Status == "" {
		p.Status = rules.Open
	}
	if at := f.Int("finalizedAtMs"); at > 0 {
		p.FinalizedAt = time.UnixMilli(at).UTC()
	}
	priority := f.Map("finalizedSlotPriorityAtMs")
	p.SlotPriority = make(map[string]int64, len(priority))
	for slot := range priority {
		p.SlotPriority[slot] = priority.Int(slot)
	}
	return p
}

// New gives the fields of a new poll's document.
func New(p Poll) map[string]any {
	return map[string]any{
		"title": p.Title, "description": p.Description,
		"creatorId": p.CreatorID, "creatorEmail": p.CreatorEmail,
		"status": string(rules.Open), "participantIds": listOf(p.ParticipantIDs),
		"pendingInvites": listOf(p.PendingInvites), "allowLinkSharing": p.AllowLinkSharing,
		"timezone": store.NullIfEmpty(p.Timezone), "winningSlotId": nil, "googleEventId": nil,
		"questingGroupId":   store.NullIfEmpty(p.GroupID),
		"questingGroupName": store.NullIfEmpty(p.GroupName),
		"createdAt":         p.CreatedAt, "updatedAt": p.CreatedAt,
		"calendarSync": map[string]any{"recorded": Recorded{At: p.CreatedAt, Status: rules.Open}.encode()},
	}
}

// Linked reports whether the poll follows a calendar event now.
func (p Poll) Linked() bool {
	return p.Status == rules.Finalized && p.GoogleEventID != ""
}

// EventID is the event that the poll names, or else awaits; "" for neither.
func (p Poll) EventID() string {
	if p.GoogleEventID == "" && p.Sync.Awaited != nil {
		return p.Sync.Awaited.Link.Event
	}
	return p.GoogleEventID
}

// EditedDirectly reports whether somebody wrote the status, winning slot or event directly, and
// the journal does not know it yet.
func (p Poll) EditedDirectly() bool {
	known := p.Sync.Recorded
	return !known.At.IsZero() &&
		(p.Status != known.Status || p.WinningSlotID != known.WinningSlotID || p.GoogleEventID != known.EventID)
}

// MarkedCancelled reports whether one of the three marks of a cancellation is set. An archived
// poll was cancelled then, and the web app shows its badge, whatever the status.
func (p Poll) MarkedCancelled() bool {
	return p.Cancelled != nil || p.Sync.Cancelled != nil || p.HasCancelledAt
}

// Unmarked is the poll without a mark of a cancellation.
func (p Poll) Unmarked() Poll {
	p.Cancelled, p.Sync.Cancelled, p.HasCancelledAt = nil, nil, false
	return p
}

// Chosen is the poll after a slot's time was chosen for its session.
func (p Poll) Chosen(slotID string, at time.Time) Poll {
	p.SlotPriority = maps.Clone(p.SlotPriority)
	if p.SlotPriority == nil {
		p.SlotPriority = map[string]int64{}
	}
	p.SlotPriority[slotID] = at.UnixMilli()
	return p
}

// truthy reports whether JavaScript treats a value as true.
func truthy(value any) bool {
	switch v := value.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case int64:
		return v != 0
	case float64:
		return v != 0 && !math.IsNaN(v)
	default:
		return true
	}
}

// InvitedAs reports whether an e-mail address is among the pending invites.
func (p Poll) InvitedAs(email string) bool {
	return email != "" && slices.ContainsFunc(p.PendingInvites, func(invited string) bool {
		return strings.EqualFold(invited, email)
	})
}

// People are the poll's participants and the members of its group (nil: none), each once, in
// that order.
func (p Poll) People(group *Group) []string {
	people := slices.Clone(p.ParticipantIDs)
	if group != nil {
		people = append(people, group.MemberIDs...)
	}
	known := make(map[string]bool, len(people))
	return slices.DeleteFunc(people, func(id string) bool {
		again := known[id] || id == ""
		known[id] = true
		return again
	})
}

func decodeCancelled(f store.Fields) *Cancelled {
	if len(f) == 0 {
		return nil
	}
	return &Cancelled{At: f.Time("at"), Reason: f.String("reason")}
}

func (c Cancelled) encode() map[string]any {
	return map[string]any{"at": c.At, "reason": c.Reason}
}

func decodeCard(f store.Fields) Card {
	return Card{
		MessageID: f.String("messageId"), ChannelID: f.String("channelId"), GuildID: f.String("guildId"),
		MessageURL: f.String("messageUrl"), NotifyRoleID: f.String("notifyRoleId"),
		Hash: f.String("lastSyncedHash"), Error: f.String("pendingSyncError"),
	}
}

// listOf is a list for writing: empty rather than null.
func listOf(texts []string) []any {
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	return list
}
