package notify

import (
	"strings"
	"testing"

	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// Where this server answers them, a card has the buttons of the poll's state; Vote is the first.
func TestCard_ThatIsAnsweredHere_HasTheButtonsOfItsState(t *testing.T) {
	t.Parallel()
	d := &Discord{AppURL: "https://quests.example", Answers: true}
	for status, want := range map[rules.Status]string{
		rules.Open:      "Vote=vote_btn:p Who is missing=qs:who:p Manage=qs:menu:p",
		rules.Finalized: "Voting closed=vote_btn:p (off) Manage=qs:menu:p",
		rules.Cancelled: "Voting closed=vote_btn:p (off) Manage=qs:menu:p",
		rules.Archived:  "Voting closed=vote_btn:p (off) Manage=qs:menu:p",
	} {
		var got []string
		for _, button := range d.buttons(poll.Poll{ID: "p", Status: status})[0].Buttons {
			label := button.Label + "=" + button.CustomID
			if button.Disabled {
				label += " (off)"
			}
			got = append(got, label)
		}
		if shown := strings.Join(got, " "); shown != want {
			t.Errorf("%s: %s, want %s", status, shown, want)
		}
	}
	long := d.buttons(poll.Poll{ID: strings.Repeat("p", 100), Status: rules.Open})[0].Buttons
	if len(long) != 1 || long[0].URL == "" {
		t.Errorf("an id that is too long for a button gives %+v, want a link", long)
	}
}
