package calendarsync

// Status is a watch channel's status. A channel is written before Google knows it, and a
// new one is active before the old one retires. Transitions is the state machine.
type Status string

// The statuses of a watch channel.
const (
	Pending  Status = "pending"
	Active   Status = "active"
	Retiring Status = "retiring"
	Expired  Status = "expired"
	Failed   Status = "error"
	// Stopped channels have no document.
	Stopped Status = "stopped"
)

// ChannelEvent is an event in the life of a channel.
type ChannelEvent string

// The events of a channel.
const (
	Requested   ChannelEvent = "requested"   // it is about to be requested
	Granted     ChannelEvent = "granted"     // Google granted it and returned its resource id
	Pushed      ChannelEvent = "pushed"      // it pushed without ever having been answered
	Refused     ChannelEvent = "refused"     // Google refused it or did not answer
	Superseded  ChannelEvent = "superseded"  // a later channel is live, or nothing follows the calendar
	Closed      ChannelEvent = "closed"      // Google stopped it or no longer knows it
	Unstoppable ChannelEvent = "unstoppable" // Google will not stop it for us
	Ended       ChannelEvent = "ended"       // it expired
	Forgotten   ChannelEvent = "forgotten"   // it ended long ago, or many others ended since
)

// ChannelEvents lists all events.
var ChannelEvents = []ChannelEvent{Requested, Granted, Pushed, Refused, Superseded, Closed, Unstoppable, Ended, Forgotten}

// Statuses lists all statuses; "" is a channel not yet written.
var Statuses = []Status{"", Pending, Active, Retiring, Expired, Failed}

// Transition is one row of the state machine.
type Transition struct {
	From  Status
	Event ChannelEvent
	To    Status
}

// Transitions is the state machine. An event without a row, such as a late answer or a
// second stop, changes nothing.
func Transitions() []Transition {
	return []Transition{
		{"", Requested, Pending},         // written before Google is asked, so that its first push is known
		{Pending, Granted, Active},       // Google granted it
		{Pending, Pushed, Active},        // its push proves it open, though the answer was lost
		{Pending, Refused, Failed},       // with the reason and the time of the next try
		{Pending, Unstoppable, Expired},  // left to its end
		{Pending, Ended, Expired},        // it never answered or pushed
		{Active, Superseded, Retiring},   // about to be stopped; its pushes still count
		{Active, Closed, Stopped},        // the document is deleted
		{Active, Unstoppable, Expired},   // left to its end
		{Active, Ended, Expired},         // kept for a while for the record
		{Retiring, Closed, Stopped},      // the document is deleted
		{Retiring, Unstoppable, Expired}, // left to its end
		{Retiring, Ended, Stopped},       // Google ended it
		{Failed, Granted, Active},        // the answer came after all
		{Failed, Pushed, Active},         // its push proves it open after all
		{Failed, Superseded, Stopped},    // another one was tried, and this one is not open
		{Failed, Unstoppable, Expired},   // left to its end
		{Failed, Ended, Stopped},         // it can no longer be open
		{Expired, Forgotten, Stopped},    // after thirty days, or once ten others of its calendar ended
	}
}

// Next is the status after an event; ok is false if the event changes nothing.
func (s Status) Next(event ChannelEvent) (to Status, ok bool) {
	for _, row := range Transitions() {
		if row.From == s && row.Event == event {
			return row.To, true
		}
	}
	return s, false
}
