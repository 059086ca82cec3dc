package mirrors

import (
	"context"
	"reflect"
	"slices"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// Codes of the errors of Events, beside CodeUnknownCalendar.
const (
	// CodeNotWritable (Forbidden): the account may only read the calendar.
	CodeNotWritable = "calendar_not_writable"
	// CodeOverlayCalendar (Invalid): the calendar is ours, for mirrors.
	CodeOverlayCalendar = "overlay_calendar"
)

// EventGoogle is the part of gcal.Client that Events needs.
type EventGoogle interface {
	Access(ctx context.Context, ref gcal.Ref) (gcal.Access, error)
	Get(ctx context.Context, ref gcal.Ref, eventID string) (gcal.Event, error)
	Instance(ctx context.Context, ref gcal.Ref, seriesID string, original recurrence.Moment) (gcal.Event, error)
	InsertContent(ctx context.Context, ref gcal.Ref, id string, content gcal.Content, private map[string]string) (gcal.Event, error)
	PatchContent(ctx context.Context, ref gcal.Ref, id, etag string, content gcal.Content) (gcal.Event, error)
	DeleteQuietly(ctx context.Context, ref gcal.Ref, id, etag string) (deleted bool, err error)
}

// Events shows a person's events and changes them. A change is made in the calendar, and
// Google's answer is applied as a sync would apply it: after a crash in between, the next
// sync does the same.
type Events struct {
	Google   EventGoogle
	Accounts interface {
		Owned(ctx context.Context, ownerID, id string) (accounts.Account, error)
	}
	// Service applies what Google answered, and has calendars followed.
	Service *Service
	// ReadOnly refuses changes (QS_SYNC=off or observe).
	ReadOnly bool
}

// Shown is an event as a list shows it: a single event, an occurrence of a series, or a
// series that cannot be expanded.
type Shown struct {
	mirror.Event
	// Begins and Ends are the times of the occurrence, if it is one.
	Begins, Ends time.Time
	// OccurrenceID is the address of an occurrence of a series; "" for others.
	OccurrenceID string
	Mirrors      []mirror.Mirror
}

// Get returns a person's event, or one of a group that they are connected to, with the
// person's mirrors of it; or an occurrence of one by its address (OccurrenceID). NotFound if it
// is another's.
func (e *Events) Get(ctx context.Context, ownerID, id string) (Shown, error) {
	if seriesID, at, isOccurrence := cutAddress(id); isOccurrence {
		return e.getOccurrence(ctx, ownerID, seriesID, at)
	}
	event, err := e.load(ctx, ownerID, id)
	if err != nil {
		return Shown{}, err
	}
	return e.show(ctx, ownerID, asSharedWith(ownerID, event))
}

// load reads what a person may see, as it is stored; asSharedWith is what they see of it.
func (e *Events) load(ctx context.Context, ownerID, id string) (mirror.Event, error) {
	event, err := mirror.LoadEvent(ctx, e.Service.Store, id)
	if fault.Is(err, fault.NotFound) {
		err = errNoEvent()
	}
	if err != nil || event.OwnerID == ownerID && event.Source != mirror.SourceGroup {
		return event, err
	}
	groups, err := belonging(ctx, e.Service.Store, ownerID)
	if err == nil && !slices.Contains(groups, event.GroupID) {
		err = errNoEvent()
	}
	return event, err
}

// asSharedWith is an event as a person sees it: where another one's is, and what that one
// answered, is nobody else's business. A private one shows its times alone, as its copies do.
func asSharedWith(personID string, event mirror.Event) mirror.Event {
	if event.OwnerID == personID {
		return event
	}
	event.AccountID, event.CalendarID, event.Declined = "", "", false
	if plan.Private(event) {
		event.Title, event.Description, event.Location = plan.BusyTitle, "", ""
	}
	return event
}

func (e *Events) show(ctx context.Context, ownerID string, event mirror.Event) (Shown, error) {
	shown := []Shown{{Event: event, Begins: event.From, Ends: event.Until}}
	if len(event.Recurrence) > 0 {
		shown[0].Begins, shown[0].Ends = event.Start.Instant(time.UTC), event.End.Instant(time.UTC)
	}
	err := e.addMirrors(ctx, ownerID, shown)
	return shown[0], err
}

// Create makes an event. request names the request: the same one again finds the event
// that it made. Unavailable: it may have been made.
func (e *Events) Create(ctx context.Context, ownerID, request string, asked NewEvent, cause scheduler.Cause) (Shown, error) {
	content, err := asked.content()
	if err != nil {
		return Shown{}, err
	}
	ref, err := e.writable(ctx, ownerID, asked.AccountID, asked.CalendarID)
	if err != nil {
		return Shown{}, err
	}
	if err := e.Service.FollowAlso(ctx, ownerID, mirror.Place{AccountID: ref.Account, CalendarID: ref.Calendar}, cause); err != nil {
		return Shown{}, err
	}
	id := mirror.APIEventID(ownerID, request)
	answered, err := e.Google.InsertContent(ctx, ref, id, content, nil)
	wrote := err == nil
	if fault.CodeOf(err) == gcal.CodeDuplicate {
		answered, err = e.Google.Get(ctx, ref, id)
	}
	if err == nil && answered.EventState == rules.Gone {
		err = fault.New(fault.NotFound, "The event that this request made was deleted since. Make another one.")
	}
	if err != nil {
		return Shown{}, e.refused(ctx, ref, err)
	}
	return e.observe(ctx, ref, answered, wrote, cause)
}

// Change changes an event in its calendar, or an occurrence of a series by its address; without
// a difference it writes nothing. Conflict: it changed during the call, belongs to a poll or a
// group, or a series would move to another day (CodeOtherDay). Forbidden: only its organizer
// may, or the account may not write to its calendar.
func (e *Events) Change(ctx context.Context, ownerID, id string, change Change, cause scheduler.Cause) (Shown, error) {
	to, err := e.target(ctx, ownerID, id)
	if err != nil {
		return Shown{}, err
	}
	answered, err := e.organized(ctx, to.ref, to.eventID)
	if err != nil {
		return Shown{}, err
	}
	if err := e.demanded(ctx, ownerID, id, answered, change.Demand); err != nil {
		return Shown{}, err
	}
	was := contentOf(*answered.Details)
	content, err := change.over(was)
	if err == nil {
		err = to.checkDay(was, content)
	}
	if err != nil {
		return Shown{}, err
	}
	same := reflect.DeepEqual(content, was)
	if same && to.occurrence != "" { // it may be no exception, of which there would be nothing to keep
		return e.Get(ctx, ownerID, id)
	}
	if !same {
		answered, err = e.Google.PatchContent(ctx, to.ref, to.eventID, answered.ETag, content)
		if err != nil {
			return Shown{}, e.refused(ctx, to.ref, err)
		}
	}
	if same {
		cause.Person = "" // what differs from what is stored is another's doing
	}
	shown, err := e.observe(ctx, to.ref, answered, !same, cause)
	shown.OccurrenceID = to.occurrence
	return shown, err
}

// Delete deletes an event from its calendar, or an occurrence of a series by its address, and
// its mirrors after it. One that is gone from the calendar already is no error. demand is Change.Demand. Other errors are those of Change.
func (e *Events) Delete(ctx context.Context, ownerID, id string, demand func(Shown) error, cause scheduler.Cause) error {
	to, err := e.target(ctx, ownerID, id)
	if err != nil {
		return err
	}
	answered, err := e.organized(ctx, to.ref, to.eventID)
	if err == nil {
		err = e.demanded(ctx, ownerID, id, answered, demand)
	}
	wrote := false
	if err == nil {
		wrote, err = e.Google.DeleteQuietly(ctx, to.ref, to.eventID, answered.ETag)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return e.refused(ctx, to.ref, err)
		}
		answered, err = e.get(ctx, to.ref, to.eventID)
	}
	switch {
	case answered.EventState == rules.Gone: // also if it was gone before
		if !wrote {
			cause.Person = ""
		}
		_, known, err := e.Service.Observe(ctx, to.ref, answered, wrote, cause)
		if err == nil && !known && wrote && to.occurrence == "" {
			err = e.Service.recordDeleter(ctx, mirror.Event{ID: to.id, OwnerID: ownerID}, cause)
		}
		return err
	case fault.Is(err, fault.NotFound):
		return nil // the sync finds it gone
	default:
		return err
	}
}

// observe applies what Google answered, as a sync would, and shows it.
func (e *Events) observe(ctx context.Context, ref gcal.Ref, answered gcal.Event, wrote bool, cause scheduler.Cause) (Shown, error) {
	event, known, err := e.Service.Observe(ctx, ref, answered, wrote, cause)
	if err == nil && !known {
		err = errNoEvent()
	}
	if err != nil {
		return Shown{}, err
	}
	return e.show(ctx, event.OwnerID, event)
}

// changeable loads an event that routes may change.
func (e *Events) changeable(ctx context.Context, ownerID, id string) (mirror.Event, error) {
	if e.ReadOnly {
		return mirror.Event{}, errReadOnly()
	}
	event, err := e.load(ctx, ownerID, id)
	switch {
	case err != nil:
		return mirror.Event{}, err
	case event.Source == mirror.SourcePoll:
		return mirror.Event{}, fault.Newf(fault.Conflict,
			"This is the session of poll %s. Change or cancel the poll, and its event follows.", event.PollID)
	case event.Source == mirror.SourceGroup:
		return mirror.Event{}, fault.New(fault.Conflict, "This is an event of a group. Change it under the group's events.")
	}
	_, err = e.owned(ctx, ownerID, event.AccountID)
	return event, err
}

// organized reads an event whose organizer is its own calendar. NotFound with EventState
// Gone: it was deleted.
func (e *Events) organized(ctx context.Context, ref gcal.Ref, eventID string) (gcal.Event, error) {
	answered, err := e.get(ctx, ref, eventID)
	switch {
	case err != nil:
		return gcal.Event{}, err
	case answered.EventState == rules.Gone:
		return answered, fault.New(fault.NotFound, "The event was deleted from its calendar.")
	case !answered.Details.Organized:
		return gcal.Event{}, fault.New(fault.Forbidden, "You are a guest of this event. Only its organizer may change it.")
	}
	return answered, nil
}

// get reads an event. NotFound: the calendar has no such event. Of a calendar that the account
// reaches no more Google says the same, but the event may still be in it: Forbidden.
func (e *Events) get(ctx context.Context, ref gcal.Ref, eventID string) (gcal.Event, error) {
	answered, err := e.Google.Get(ctx, ref, eventID)
	return answered, e.missing(ctx, ref, err)
}

// missing is an error of a call about an event, or that its whole calendar is out of reach.
func (e *Events) missing(ctx context.Context, ref gcal.Ref, err error) error {
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	_, unreached := e.Google.Access(ctx, ref)
	switch {
	case fault.Is(unreached, fault.NotFound):
		return &fault.Error{
			Kind: fault.Forbidden, Code: CodeNotWritable, Err: err,
			Message: "This account does not reach the event's calendar any more. Have its owner share it again, or delete the event there.",
		}
	case unreached != nil:
		return unreached
	}
	return err
}

// owned loads a usable account of the person's.
func (e *Events) owned(ctx context.Context, ownerID, accountID string) (accounts.Account, error) {
	account, err := e.Accounts.Owned(ctx, ownerID, accountID)
	if err == nil {
		err = account.Usable()
	}
	return account, err
}

func (e *Events) writable(ctx context.Context, ownerID, accountID, calendarID string) (gcal.Ref, error) {
	if e.ReadOnly {
		return gcal.Ref{}, errReadOnly()
	}
	account, err := e.owned(ctx, ownerID, accountID)
	if err != nil {
		return gcal.Ref{}, err
	}
	if calendarID == "" || calendarID == "primary" || isAddressOf(account, calendarID) {
		calendarID = account.Primary()
	}
	ref := gcal.Ref{Account: account.ID, Calendar: calendarID}
	access, err := e.Google.Access(ctx, ref)
	switch {
	case fault.Is(err, fault.NotFound):
		err = &fault.Error{
			Kind: fault.Invalid, Code: CodeUnknownCalendar, Err: err,
			Message: "calendar_id is no calendar of that account. Choose one of the account's list of calendars.",
		}
	case err == nil && !access.Writable:
		err = errNotWritable()
	}
	return ref, err
}

// refused says of an error of a write whether the account may not write to the calendar, which
// Google says in several ways.
func (e *Events) refused(ctx context.Context, ref gcal.Ref, err error) error {
	if !fault.Is(err, fault.Provider) {
		return err
	}
	if access, unknown := e.Google.Access(ctx, ref); unknown == nil && !access.Writable {
		return errNotWritable()
	}
	return err
}

func errNotWritable() error {
	return &fault.Error{
		Kind: fault.Forbidden, Code: CodeNotWritable,
		Message: "This account may not write to that calendar. Choose another calendar, or have its owner allow it.",
	}
}

func errNoEvent() error {
	return fault.New(fault.NotFound, "There is no such event among those of your calendars. List your events for the ids there are.")
}

func errReadOnly() error {
	return fault.New(fault.Unavailable, "This server only observes calendars for now (QS_SYNC). Try again once it writes to them.")
}
