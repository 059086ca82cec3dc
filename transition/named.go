package transition

import (
	"slices"
	"time"

	"questscheduler/internal/poll"
)

// newFor is how long a poll that the web app made counts as new. Nobody knows what
// happened to an older one before the server met it.
const newFor = 10 * time.Minute

// IsNew reports whether a poll is as the web app made it a moment ago, so its participants
// are those whom its creator named. A join writes the document, whether it sets the
// time of the last edit or not.
func IsNew(p poll.Poll, now time.Time) bool {
	return p.Untouched && p.UpdatedAt.IsZero() && p.Sync.Recorded.At.IsZero() && now.Sub(p.CreatedAt).Abs() < newFor
}

// Named are the participants of a poll whom somebody else named, and who have not
// joined since, as far as that is certain. known are those who were recorded.
func Named(known []string, p poll.Poll, now time.Time) []string {
	if IsNew(p, now) {
		known = append(slices.Clone(known), p.ParticipantIDs...)
	}
	return NamedOf(known, p)
}

// NamedOf leaves of people those who take part without having made the poll, sorted.
func NamedOf(people []string, p poll.Poll) []string {
	left := slices.DeleteFunc(slices.Sorted(slices.Values(people)), func(id string) bool {
		return id == p.CreatorID || !slices.Contains(p.ParticipantIDs, id)
	})
	return slices.Compact(left)
}

// NameFirst records who was named in a new poll, by whatever writes its document first: it is
// not new any more then. Nobody is recorded before, or the document had been written.
func (s *Step) NameFirst() {
	if first := Named(nil, s.Poll, s.Now); len(first) > 0 {
		s.Writes.Merge(poll.AnnouncementPath(s.Poll.ID), poll.NamedUpdates(s.Poll.ID, first)...)
	}
}

// Name records whom a person named by an edit of the participants, behind Edit, and forgets that
// those joined whom the edit removed, or who had left before. known are those who were recorded as
// named.
func (s *Step) Name(known []string, by string) {
	named := Named(known, s.Poll, s.Now)
	for _, id := range s.After.ParticipantIDs {
		if id != by && !slices.Contains(s.Poll.ParticipantIDs, id) {
			named = append(named, id)
		}
	}
	s.setNamed(known, NamedOf(named, *s.After))
	after := s.After.RenamedFrom(s.Poll)
	s.After = &after
}

func (s *Step) setNamed(known, named []string) {
	if !slices.Equal(known, named) {
		s.Writes.Merge(poll.AnnouncementPath(s.Poll.ID), poll.NamedUpdates(s.Poll.ID, named)...)
	}
}

// Enter records people whom a press on Discord lets in no other time. known are those who were
// recorded.
func (s *Step) Enter(known []string, people ...string) {
	entered := slices.Compact(slices.Sorted(slices.Values(slices.Concat(known, people))))
	entered = entered[:min(len(entered), poll.MostEntered)]
	if !slices.Equal(known, entered) {
		s.Writes.Merge(poll.AnnouncementPath(s.Poll.ID), poll.EnteredUpdates(s.Poll.ID, entered)...)
	}
}

// Press records who takes part by a press on Discord alone, behind a change of the participants:
// people, and those of known who took part before it and still do. Somebody else who was recorded, and
// takes part by now, came another way. known are those who were recorded.
func (s *Step) Press(known []string, people ...string) {
	s.setPressed(known, NamedOf(append(NamedOf(known, s.Poll), people...), *s.After))
}

func (s *Step) setPressed(known, pressed []string) {
	if !slices.Equal(known, pressed) {
		s.Writes.Merge(poll.AnnouncementPath(s.Poll.ID), poll.PressedUpdates(s.Poll.ID, pressed)...)
	}
}

// NameOnce records who is named in a poll as it was edited directly, behind its repair, and forgets
// that those joined, or pressed, who are not participants any more: another person may name them
// again.
func (s *Step) NameOnce(known poll.Announcement, edited poll.Poll) {
	s.setNamed(known.Named, Named(known.Named, edited, s.Now))
	s.setPressed(known.Pressed, NamedOf(known.Pressed, edited))
	after := edited
	if s.After != nil {
		after = *s.After
	}
	if left := after.WithoutLeft(); len(left.JoinedIDs) < len(after.JoinedIDs) {
		s.After = &left
	}
}
