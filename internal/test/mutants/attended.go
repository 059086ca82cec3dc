package main

// attended are faults of second addresses.
var attended = []mutant{
	{
		name:   "addition-not-recorded",
		breaks: "What the program adds is kept nowhere, so an address that a person takes out is added a second time.",
		changes: []change{{
			file: "attendees/writer_record.go",
			old:  `	if !would {`,
			new:  `	if would {`,
		}},
	},
	{
		name:   "invited-guest-withdrawn",
		breaks: "A second address that a person invited is treated as the program's own, and removed when its mapping ends.",
		changes: []change{{
			file: "attendees/decide.go",
			old:  `return s.confirmed(Entry{Primary: keepers[0]}, Theirs)`,
			new:  `return s.confirmed(Entry{Primary: keepers[0]}, Added)`,
		}},
	},
	{
		name:   "declined-address-added-again",
		breaks: "Who had declined when their mapping ended is invited again when it begins again.",
		changes: []change{{
			file: "attendees/decide.go",
			old:  `	entry.State, entry.Declined = Withdrawing, guest.declined()`,
			new:  `	entry.State, entry.Declined = Withdrawing, false`,
		}},
	},
	{
		name:   "removed-address-added-again",
		breaks: "An address that a person took out of an event is added again.",
		changes: []change{{
			file: "attendees/decide.go",
			old: `		if s.trusted(entry) {
			entry = s.confirmed(entry, Removed)
		}`,
			new: `		if s.trusted(entry) {
			return s.invite(address, entry)
		}`,
		}},
	},
	{
		name:   "guests-written-without-if-match",
		breaks: "Guests are written whatever the event has become since it was read, and what people changed is lost.",
		changes: []change{{
			file: "internal/gcal/guests.go",
			old:  `			request.Header.Set("If-Match", list.Event.ETag)`,
			new:  `			request.Header.Set("If-Match", "*")`,
		}},
	},
	{
		name:   "failed-load-empties-the-mappings",
		breaks: "A sheet that cannot be read counts as one without mappings, and all that was added is withdrawn.",
		changes: []change{{
			file: "attendees/mappings/load.go",
			old: `		state, err := m.failed(ctx, cause, err)
		return state, "", err
	}
	for`,
			new: `		rows = [][]string{{"nobody"}}
	}
	for`,
		}, {
			file: "attendees/mappings/decide.go",
			old:  `c.of >= 2 ||`,
			new:  `c.of >= 2 && c.table.Len() > 0 ||`,
		}},
	},
	{
		name:   "addresses-compared-with-case",
		breaks: "An address in capital letters is another one, so who is mapped is not found.",
		changes: []change{{
			file: "attendees/decide.go",
			old:  `		if address := mappings.Fold(guest.Address); address != "" {`,
			new:  `		if address := guest.Address; address != "" {`,
		}},
	},
	{
		name:   "exceptions-ignored",
		breaks: "An occurrence that differs from its series is left alone, with any guests.",
		changes: []change{{
			file: "attendees/identify.go",
			old:  `	if event.Malformed || uid == "" ||`,
			new:  `	if event.Malformed || uid == "" || series != "" ||`,
		}},
	},
	{
		name:   "lost-mappings-not-held",
		breaks: "A sheet that lost over half of its mappings takes effect without a person's word.",
		changes: []change{{
			file: "attendees/mappings/decide.go",
			old:  `confirm != read.version:`,
			new:  `confirm != read.version && read.table.Len() == 0:`,
		}},
	},
	{
		name:   "grown-mappings-not-held",
		breaks: "A sheet that maps many more people at once takes effect without a person's word.",
		changes: []change{{
			file: "attendees/mappings/decide.go",
			old:  `c.growing > fewAdded`,
			new:  `c.growing > 1000*fewAdded`,
		}},
	},
	{
		name:   "outsiders-learn-addresses",
		breaks: "An outsider who invites a mapped person, and lets guests change the event, is shown their second address.",
		changes: []change{{
			file: "attendees/decide.go",
			old:  `	if !s.event.Inside {`,
			new:  `	if !s.event.Inside && !s.writable {`,
		}},
	},
	{
		name:   "optional-guests-needed",
		breaks: "The second address of a guest who need not come is invited as one who must.",
		changes: []change{{
			file: "attendees/decide.go",
			old:  `d.Optional = append(d.Optional, address)`,
			new:  `d.Optional = append(d.Optional, "")`,
		}},
	},
	{
		name:   "addition-never-confirmed",
		breaks: "The event after an addition is not recognised as what was asked for, so its removal by a person is treated as a lost patch.",
		changes: []change{{
			file: "attendees/decide.go",
			old: `		entry = s.confirmed(entry, Added)
	}
	primary`,
			new: `		entry = s.confirmed(entry, Adding)
	}
	primary`,
		}},
	},
	{
		name:   "withdrawal-forgotten",
		breaks: "The events of a mapping that ended are not compared again, and keep its addresses.",
		changes: []change{{
			file: "attendees/mappings/carry.go",
			old: `		if err == nil && changed {
			did.Due`,
			new: `		if err == nil && changed && t.to.Maps(primary) {
			did.Due`,
		}},
	},
	{
		name:   "answers-of-guests-lost",
		breaks: "Guests are written back by their addresses alone, and what they answered is lost.",
		changes: []change{{
			file: "internal/gcal/guests.go",
			old:  `guestEntry{shown.Attendees[i].Email, raw}`,
			new:  `guestEntry{shown.Attendees[i].Email, jsontext.Value("{\"responseStatus\":\"needsAction\",\"email\":\"" + shown.Attendees[i].Email + "\"}")}`,
		}, {
			file: "internal/gcal/guests.go",
			old:  `	for i, raw := range whole.Attendees {`,
			new:  `	for i := range whole.Attendees {`,
		}},
	},
	{
		name:   "rooms-count-as-people",
		breaks: "A room with a mapped address has its second address invited.",
		changes: []change{{
			file: "attendees/decide.go",
			old:  `		if !guest.Resource && !entry.Ours() {`,
			new:  `		if !entry.Ours() {`,
		}},
	},
	{
		name:   "organizers-calendar-not-found",
		breaks: "A guest whose mapping begins later is not added at events of an organizer whose own mapping stays as it was.",
		changes: []change{{
			file: "attendees/compare.go",
			old:  `return !shown.copied.Gone && !shown.copied.Organized &&`,
			new:  `return shown.copied.Gone && !shown.copied.Organized &&`,
		}},
	},
	{
		name:   "changed-mapping-not-listed-again",
		breaks: "Of an address whose mapping changed only the events that had additions are compared, so new second addresses reach no event.",
		changes: []change{{
			file: "attendees/mappings/decide.go",
			old:  `	case wants && relist:`,
			new:  `	case wants && relist && follow.ID == "":`,
		}},
	},
	{
		name:   "occurrence-inherits-what-came-later",
		breaks: "What became of an address in a series counts for an occurrence that had guests of its own before, as a person's removal.",
		changes: []change{{
			file: "attendees/record.go",
			old:  `	if e.Since.IsZero() {`,
			new:  `	if e.Since.IsZero() || len(e.Entries) < 1<<20 {`,
		}},
	},
}
