package google

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// save stores what a write made of an event, wherever it shows. before is the
// version it was made from, nil for a new event.
//
// The organiser's event is copied into the calendars of those attendees who
// are users here, under the same id. A guest may change what is personal in
// their copy, and their own response, which goes back to the organiser's event
// and from there to every copy. What is shared a guest may change only where
// guestsCanModify is true, but for inviting others, unless guestsCanInviteOthers is
// false.
func (c *change) save(before, after *event) error {
	if !after.isCopy() {
		c.put(after)
		if err := c.resetSeries(before, after); err != nil {
			return err
		}
		return c.spread(before, after)
	}
	organised := c.find(after.Organizer, after.ID)
	sameShared, err := equalShared(before, after)
	if err != nil {
		return err
	}
	invites, err := onlyInvites(before, after)
	if err != nil {
		return err
	}
	mine := find(after.attendees(), after.Calendar)
	sameResponse := sameJSON(find(before.attendees(), before.Calendar), mine)
	switch {
	case !sameShared && !before.guestsModify() && !(invites && before.guestsInvite()):
		return errNotOrganizer
	case sameShared && sameResponse:
		c.put(after)
		return nil
	}
	next := *organised
	next.Fields = maps.Clone(organised.Fields)
	if sameShared {
		err = next.setAttendees(replaceOne(organised.attendees(), mine))
	} else {
		err = next.takeShared(after)
	}
	if err != nil {
		return err
	}
	c.put(after)
	c.put(&next)
	return c.spread(organised, &next)
}

// cancel makes an event a tombstone. The organiser's takes every copy with it;
// a guest's copy goes alone, and the organiser's event says declined.
func (c *change) cancel(e *event) error {
	gone := *e
	gone.Cancelled = true
	c.put(&gone)
	if err := c.resetSeries(e, &gone); err != nil {
		return err
	}
	if !e.isCopy() {
		return c.spread(e, &gone)
	}
	organised := c.find(e.Organizer, e.ID)
	if organised == nil || organised.Cancelled {
		return nil
	}
	next := *organised
	next.Fields = maps.Clone(organised.Fields)
	list := organised.attendees()
	if mine := find(list, e.Calendar); mine != nil {
		mine["responseStatus"] = "declined"
	}
	if err := next.setAttendees(list); err != nil {
		return err
	}
	c.put(&next)
	return c.spread(organised, &next)
}

// spread brings the guests' copies of the organiser's event up to date: made
// for who was invited, cancelled for who no longer is. A guest who removed
// their copy gets it back only by a new invitation. An event of another origin
// that happens to have the same id in a guest's calendar is left alone.
func (c *change) spread(before, after *event) error {
	var invited []attendee
	if before != nil {
		invited = before.attendees()
	}
	now := after.attendees()
	removed := slices.DeleteFunc(slices.Clone(invited), func(a attendee) bool { return find(now, a.email()) != nil })
	for _, a := range slices.Concat(now, removed) {
		cal := c.guestCalendar(a, after)
		if cal == nil {
			continue
		}
		old := c.find(cal.ID, after.ID)
		wasInvited, isInvited := find(invited, a.email()) != nil, find(now, a.email()) != nil
		switch {
		case old != nil && old.Organizer != after.Organizer:
		case !isInvited || after.Cancelled:
			if old != nil && !old.Cancelled {
				gone := *old
				gone.Cancelled = true
				c.put(&gone)
			}
			if err := c.spreadInstances(cal, after, false); err != nil {
				return err
			}
		case old != nil && old.Cancelled && wasInvited:
		default:
			if err := c.copyTo(cal, old, after); err != nil {
				return err
			}
			if err := c.spreadInstances(cal, after, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// spreadInstances brings those instances of a guest's copy of a series up to date that the guest
// changed for themselves alone, as by a colour. The organiser has no such instance, and what is
// shared of it is what the series has. Those end that no longer take place, and all of them with the
// guest's copy.
func (c *change) spreadInstances(cal *calendar, series *event, shown bool) error {
	for _, own := range cal.exceptions(series.ID) {
		if own.Cancelled || c.event(series.Calendar, own.ID) != nil {
			continue
		}
		stays, err := shown && series.recurring(), error(nil)
		if stays {
			stays, err = series.startsAt(own.Original)
		}
		if err != nil {
			continue
		}
		if !stays {
			gone := *own
			gone.Cancelled = true
			c.put(&gone)
			continue
		}
		if err := c.copyTo(cal, own, series.instance(own.Original)); err != nil {
			return err
		}
	}
	return nil
}

// guestCalendar is the calendar that an attendee's copy lives in; nil for the
// organiser and for people who are no users here.
func (c *change) guestCalendar(a attendee, e *event) *calendar {
	user := c.world.users[c.world.byEmail[fold(a.email())]]
	if user == nil || fold(user.Email) == fold(e.Organizer) {
		return nil
	}
	return c.world.calendars[user.Email]
}

func (c *change) copyTo(cal *calendar, old, organised *event) error {
	next := &event{Calendar: cal.ID, ID: organised.ID, Organizer: organised.Organizer, Creator: organised.Creator,
		Series: organised.Series, Original: organised.Original,
		Fields: map[string]json.RawMessage{"reminders": json.RawMessage(`{"useDefault":true}`)}}
	if old != nil {
		kept := *old
		next = &kept
		next.Fields = maps.Clone(old.Fields)
		next.Cancelled = false
	}
	if err := next.takeShared(organised); err != nil {
		return err
	}
	c.put(next)
	return nil
}

// takeShared makes what is shared that of another copy of the same event.
func (e *event) takeShared(from *event) error {
	private, err := e.privateProperties()
	if err != nil {
		return err
	}
	shared, err := from.shared()
	if err != nil {
		return err
	}
	maps.DeleteFunc(e.Fields, func(name string, _ json.RawMessage) bool { return !personalFields[name] })
	maps.Copy(e.Fields, shared)
	e.Start, e.End = from.Start, from.End
	if len(private) > 0 {
		patch := map[string]any{"private": private}
		if err := e.merge("extendedProperties", patch, false); err != nil {
			return err
		}
	}
	return e.setAttendees(from.attendees())
}

// shared are the fields that all copies have in common: all but the personal
// ones and extendedProperties.private.
func (e *event) shared() (map[string]json.RawMessage, error) {
	fields := maps.Clone(e.Fields)
	maps.DeleteFunc(fields, func(name string, _ json.RawMessage) bool { return personalFields[name] })
	raw, ok := fields["extendedProperties"]
	if !ok {
		return fields, nil
	}
	var properties map[string]json.RawMessage
	if err := json.Unmarshal(raw, &properties); err != nil {
		return nil, err
	}
	delete(properties, "private")
	if len(properties) == 0 {
		delete(fields, "extendedProperties")
		return fields, nil
	}
	raw, err := json.Marshal(properties)
	fields["extendedProperties"] = raw
	return fields, err
}

func (e *event) privateProperties() (map[string]any, error) {
	var properties struct {
		Private map[string]any `json:"private"`
	}
	raw, ok := e.Fields["extendedProperties"]
	if !ok {
		return nil, nil
	}
	err := json.Unmarshal(raw, &properties)
	return properties.Private, err
}

// onlyInvites says whether a guest's write changes nothing that is shared but for
// attendees that it adds.
func onlyInvites(before, after *event) (bool, error) {
	invited := before.attendees()
	stay := *after
	stay.Fields = maps.Clone(after.Fields)
	err := stay.setAttendees(slices.DeleteFunc(after.attendees(), func(a attendee) bool { return find(invited, a.email()) == nil }))
	if err != nil {
		return false, err
	}
	return equalShared(before, &stay)
}

// equalShared compares two versions of a copy in all that is shared, but for
// the response of the copy's own person.
func equalShared(a, b *event) (bool, error) {
	left, err := a.shared()
	if err != nil {
		return false, err
	}
	right, err := b.shared()
	if err != nil {
		return false, err
	}
	for _, fields := range []map[string]json.RawMessage{left, right} {
		delete(fields, "attendees")
		delete(fields, "sequence") // follows from the rest
	}
	return a.Start == b.Start && a.End == b.End &&
		maps.EqualFunc(left, right, func(x, y json.RawMessage) bool { return bytes.Equal(x, y) }) &&
		sameJSON(without(a.attendees(), a.Calendar), without(b.attendees(), b.Calendar)), nil
}

func replaceOne(list []attendee, one attendee) []attendee {
	for i, a := range list {
		if one != nil && a.is(one.email()) {
			list[i] = one
		}
	}
	return list
}

func sameJSON(a, b any) bool {
	left, errLeft := json.Marshal(a)
	right, errRight := json.Marshal(b)
	return errLeft == nil && errRight == nil && bytes.Equal(left, right)
}
