package calendarsync

// Status is where a watch channel stands. A channel is written before Google knows it, and a new
// one is active before the old one is retired. Transitions is all of it.
type Status string

// The statuses of a watch channel.
const (
	Pending  Status = "pending"
	Active   Status = "active"
	Retiring Status = "retiring"
	Expired  Status = "expired"
	Failed   Status = "error"
	// Stopped is no document any more: there is nothing left to know.
	Stopped Status = "stopped"
)

// Happening is what may happen to a channel.
type Happening string

// The happenings.
const (
	// Asked: it is about to be asked for.
	Asked Happening = "asked"
	// Answered: Google granted it, and said what it is stopped by.
	Answered Happening = "answered"
	// Heard: a push of it came, which proves that it is open and tells what it
	// is stopped by, though no answer ever came.
	Heard Happening = "heard"
	// Refused: Google did not grant it, or did not answer.
	Refused Happening = "refused"
	// Superseded: one that was granted later lives, or nothing follows the
	// calendar.
	Superseded Happening = "superseded"
	// Closed: Google stopped it, or knows it no more.
	Closed Happening = "closed"
	// Unstoppable: Google stops it for us no more.
	Unstoppable Happening = "unstoppable"
	// Ended: its time is over.
	Ended Happening = "ended"
	// Forgotten: its end is long past, or many others ended since.
	Forgotten Happening = "forgotten"
)

// Happenings are all there are.
var Happenings = []Happening{Asked, Answered, Heard, Refused, Superseded, Closed, Unstoppable, Ended, Forgotten}

// Statuses are all there are; "" is a channel that is not yet written.
var Statuses = []Status{"", Pending, Active, Retiring, Expired, Failed}

// Transition is one row of the table.
type Transition struct {
	From Status
	When Happening
	To   Status
	// Why is said to people.
	Why string
}

// Transitions is the table. What has no row changes nothing: a late answer or a
// second stop finds the channel where it is.
func Transitions() []Transition {
	return []Transition{
		{"", Asked, Pending, "written before Google is asked, so that its first push is known"},
		{Pending, Answered, Active, "Google granted it"},
		{Pending, Heard, Active, "it pushes, so it is open, though the answer was lost"},
		{Pending, Refused, Failed, "with the reason, and when it is tried again"},
		{Pending, Unstoppable, Expired, "left to its end"},
		{Pending, Ended, Expired, "nobody heard of it"},
		{Active, Superseded, Retiring, "about to be stopped; its pushes are taken meanwhile"},
		{Active, Closed, Stopped, "the document goes at once"},
		{Active, Unstoppable, Expired, "left to its end"},
		{Active, Ended, Expired, "kept for a while, for whoever asks"},
		{Retiring, Closed, Stopped, "the document goes at once"},
		{Retiring, Unstoppable, Expired, "left to its end"},
		{Retiring, Ended, Stopped, "Google ended it"},
		{Failed, Answered, Active, "the answer came after all"},
		{Failed, Heard, Active, "it pushes, so it is open after all"},
		{Failed, Superseded, Stopped, "another one was tried, and this one is not open"},
		{Failed, Unstoppable, Expired, "left to its end"},
		{Failed, Ended, Stopped, "nothing can be open any more"},
		{Expired, Forgotten, Stopped, "after thirty days, or once ten others of its calendar ended"},
	}
}

// Next is where a channel stands after a happening; ok is false where that
// changes nothing.
func (s Status) Next(when Happening) (to Status, ok bool) {
	for _, row := range Transitions() {
		if row.From == s && row.When == when {
			return row.To, true
		}
	}
	return s, false
}
