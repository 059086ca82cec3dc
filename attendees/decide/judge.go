package decide

import "questscheduler/internal/attendee"

// judge gives an address's entry after the observation, and what to do. An entry without a
// state is none.
func (s *situation) judge(address string, entry attendee.Entry) (attendee.Entry, action) {
	guest, present := s.guests[address]
	switch {
	case present && entry.Ours():
		return s.judgeAddition(address, entry, guest)
	case present:
		return s.judgeGuest(address, entry), leave
	case s.event.Omitted:
		return entry, leave // it may be a guest all the same
	}
	return s.judgeAbsent(address, entry)
}

// judgeAddition is about a guest that we added: it stays as long as somebody keeps it.
func (s *situation) judgeAddition(address string, entry attendee.Entry, guest Guest) (attendee.Entry, action) {
	if entry.State == attendee.Adding {
		entry = s.confirmed(entry, attendee.Added)
	}
	primary, kept := s.keeper(address, entry.Primary)
	switch {
	case kept && entry.State == attendee.Withdrawing:
		entry = s.confirmed(entry, attendee.Added)
		fallthrough
	case kept:
		entry.Primary = primary
		return entry, leave
	case !s.writable:
		return entry, leave
	}
	entry.State, entry.Declined = attendee.Withdrawing, guest.declined()
	return entry, remove
}

// judgeGuest is about a guest whom a person invited, as far as we know.
func (s *situation) judgeGuest(address string, entry attendee.Entry) attendee.Entry {
	switch entry.State {
	case attendee.Removed, attendee.Declined: // a person invited it again
		return s.confirmed(entry, attendee.Theirs)
	case attendee.None:
		if keepers := s.keepers[address]; len(keepers) > 0 {
			return s.confirmed(attendee.Entry{Primary: keepers[0]}, attendee.Theirs)
		}
	}
	return entry
}

// judgeAbsent is about an address that is no guest.
func (s *situation) judgeAbsent(address string, entry attendee.Entry) (attendee.Entry, action) {
	switch entry.State {
	case attendee.Theirs:
		return s.confirmed(entry, attendee.Removed), leave
	case attendee.Added:
		if s.trusted(entry) {
			entry = s.confirmed(entry, attendee.Removed)
		}
	case attendee.Withdrawing:
		if entry.Declined {
			return s.confirmed(entry, attendee.Declined), leave
		}
		return s.invite(address, entry)
	case attendee.None, attendee.Adding:
		return s.invite(address, entry)
	}
	return entry, leave
}

// invite adds an address if an inviter is there, and forgets what was tried before if not.
func (s *situation) invite(address string, entry attendee.Entry) (attendee.Entry, action) {
	inviters := s.inviters[address]
	if !s.event.Inside {
		inviters = nil
	}
	switch {
	case len(inviters) > 0 && s.writable:
		return attendee.Entry{State: attendee.Adding, Primary: inviters[0], Copy: s.event.Copy}, add
	case len(inviters) > 0 && entry.State == attendee.Adding:
		return entry, leave
	}
	return attendee.Entry{}, leave
}

// trusted reports that the observation can show that an added address is gone: it came from
// the calendar that confirmed the entry, and not from before that.
func (s *situation) trusted(entry attendee.Entry) bool {
	return entry.Copy == s.event.Copy && !s.event.Updated.Before(entry.At)
}

// confirmed is an entry in a state that this observation shows.
func (s *situation) confirmed(entry attendee.Entry, state attendee.State) attendee.Entry {
	return attendee.Entry{
		State: state, Primary: entry.Primary, At: s.event.Updated, Copy: s.event.Copy,
		Declined: state == attendee.Declined,
	}
}

// inherit is the entry of an exception that has none in its record, by that of its series.
// What a person did in the series counts here too. An addition to the series counts where
// it is found; where it is not, a person took it out if the exception changed after it.
func (s *situation) inherit(address string, of attendee.Entry) attendee.Entry {
	_, present := s.guests[address]
	after := !s.event.Omitted && (s.event.Updated.After(of.At) || s.found(of) && s.event.Updated.Equal(of.At))
	switch {
	case of.State == attendee.Theirs && !present && !after:
		return attendee.Entry{} // the exception is older than the invitation to the series
	case !of.Ours():
		return of
	case present && s.event.Updated.Before(of.At):
		return attendee.Entry{} // it was there before the addition
	case present:
		return attendee.Entry{State: attendee.Adding, Primary: of.Primary}
	case of.State == attendee.Added && after:
		return s.confirmed(of, attendee.Removed)
	}
	return attendee.Entry{}
}

// found reports that an inherited entry was found at the exception itself when its guests were
// first read: whatever changes there later, in the same moment too, changes after it.
func (s *situation) found(of attendee.Entry) bool {
	return !s.event.Since.IsZero() && of.At.Equal(s.event.Since)
}

// lasting is what an exception goes on inheriting of an entry, by the first observation of its
// guests: what people did with them, and an addition that it shows. Whom it lacks though nobody
// removed them may come to the series later, and then be added here as well.
func (s *situation) lasting(of, inherited, after attendee.Entry) attendee.Entry {
	switch {
	case inherited.State == attendee.Adding: // found among its guests
		return s.confirmed(inherited, attendee.Added)
	case after.State == attendee.Theirs:
		return after
	case after.State == attendee.Removed || after.State == attendee.Declined:
		return of
	}
	return attendee.Entry{}
}
