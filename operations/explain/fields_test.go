package explain_test

import (
	"strings"
	"testing"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/roundtrip"
	"questscheduler/operations/explain"
)

// unjournaled are the fields of a poll that its journal does not hold. A field that is added to a poll,
// and that neither the journal (transition.Leaving) nor the replay (explain.State)
// knows, is named by this test until it stands here with its reason.
var unjournaled = map[string]string{
	"ID": "it never changes", "CreatorID": "it never changes", "CreatorEmail": "it never changes", "CreatedAt": "it never changes",
	"GroupID": "the web app alone changes it", "GroupName": "the web app alone changes it", "Votes.": "the web app alone writes it",
	"Title": "an edit is not a transition", "Description": "an edit is not a transition", "Timezone": "an edit is not a transition",
	"ParticipantIDs": "membership is not a transition", "JoinedIDs": "membership is not a transition",
	"PendingInvites":   "membership is not a transition",
	"AllowLinkSharing": "an edit is not a transition", "Discord.": "it is the card's",
	"GoogleEventID": "an entry names the event it is about", "GoogleCalendarID": "an entry names the event it is about",
	"SlotPriority": "it follows from the entries' times", "FinalizedAt": "it follows from the entries' times",
	"UpdatedAt": "it is the last entry's, or an edit's", "Made": "no field holds it", "Untouched": "no field holds it",
	"Sync.LastSyncedAt": "it is the last observation's", "Sync.Generation": "it grows between entries too",
	"Sync.Sequence": "edits count too", "Sync.Observed": "it follows from the entries",
	"Sync.Awaited.": "it follows from a cancellation", "Sync.Recorded.": "it says what the journal knows, and is compared separately",
	"Sync.Error.At": "it is the entry's", "Sync.Error.Message": "it follows from the code",
	"Sync.Request.": "it names a request, for repeating it",
}

func TestPoll_EveryField_IsReplayedOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	for name, p := range roundtrip.Fields[poll.Poll]("stored", "namesCalendar") {
		var why string
		for prefix, reason := range unjournaled {
			if name == prefix || strings.HasSuffix(prefix, ".") && strings.HasPrefix(name, prefix) {
				why = reason
			}
		}
		blank := poll.Poll{}
		blank.Sync.Recorded.At = noon // it has a journal
		p.Sync.Recorded.At = noon
		compared := differing(p) != differing(blank)
		switch {
		case !compared && why == "":
			t.Errorf("no journal entry holds %s, or the replay does not compare it: extend explain.State, or say why in unjournaled", name)
		case compared && why != "":
			t.Errorf("%s is compared with the journal: take it off the list (%s)", name, why)
		}
	}
}

// differing are the fields in which a poll differs from a journal of nothing.
func differing(p poll.Poll) string {
	var fields []string
	for _, field := range explain.Judge(explain.History{Poll: p}).Fields {
		fields = append(fields, field.Field+"="+field.Stored)
	}
	return strings.Join(fields, ", ")
}
