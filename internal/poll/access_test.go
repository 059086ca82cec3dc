package poll_test

import (
	"slices"
	"testing"

	"questscheduler/internal/poll"
)

// Documents of the web app may hold empty ids and addresses, and a caller may have none.
func TestAccess_OfEachPerson_IsTheirOwn(t *testing.T) {
	t.Parallel()
	group := &poll.Group{CreatorID: "gm", MemberIDs: []string{"ana", ""}, PendingMemberIDs: []string{"ben", "ana", ""}}
	p := poll.Poll{CreatorID: "eve", ParticipantIDs: []string{"cho", ""}, PendingInvites: []string{"Dan@example.com", "ben@example.com", ""}}
	for _, c := range []struct {
		id, email                                  string
		has, invites, concerns, ungrouped, invited bool
		reads                                      []string
	}{
		{id: "gm", has: true, concerns: true},
		{id: "ana", has: true, concerns: true},
		{id: "ben", email: "ben@example.com", invites: true, invited: true, reads: []string{"ben@example.com"}},
		{id: "cho", email: "cho@example.com", concerns: true, ungrouped: true},
		{id: "dan", email: "dan@example.com", invited: true, reads: []string{"Dan@example.com"}},
		{id: "eve", concerns: true, ungrouped: true, reads: p.PendingInvites},
		{id: ""},
	} {
		got := []bool{group.Has(c.id), group.Invites(c.id), p.Concerns(c.id, group), p.Concerns(c.id, nil), p.InvitedAs(c.email)}
		if want := []bool{c.has, c.invites, c.concerns, c.ungrouped, c.invited}; !slices.Equal(got, want) {
			t.Errorf("%q: member, invited, concerned, without the group, by address are %v, want %v", c.id, got, want)
		}
		if reads := p.InvitesFor(c.id, c.email); !slices.Equal(reads, c.reads) {
			t.Errorf("%q reads the invites %q, want %q", c.id, reads, c.reads)
		}
	}
	if nobodys := (poll.Poll{}); nobodys.Concerns("", &poll.Group{}) || (&poll.Group{}).Has("") {
		t.Error("nobody belongs to what has no creator")
	}
}
