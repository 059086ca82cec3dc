package config

import (
	"regexp"
	"slices"

	"questscheduler/internal/accounts"
)

// AttendeesOn reports whether guests' second addresses are kept: a sheet or file of them
// is set.
func (c Config) AttendeesOn() bool { return c.AttendeesSheet != "" || c.AttendeesCSV != "" }

// domain is a domain name in lower case with a dot in it.
var domain = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)+$`)

// spreadsheet is the id of a Google Sheet.
var spreadsheet = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// checkAttendees notes what is wrong with the settings of second addresses.
func (c Config) checkAttendees(p *Problems) {
	p.require(c.AttendeesSheet == "" || c.AttendeesCSV == "", "ATTENDEES_CSV",
		"is set, and QS_ATTENDEES_SHEET too; unset the one that does not hold the second addresses")
	p.require(c.AttendeesSheet == "" || spreadsheet.MatchString(c.AttendeesSheet), "ATTENDEES_SHEET",
		"has to be the sheet's id alone: the part of its address between /d/ and /edit")
	p.require(!c.AttendeesOn() || len(c.AttendeesDomains) > 0, "ATTENDEES_DOMAINS",
		"has to name the domains of primary addresses, such as north.example, since second addresses are switched on")
	p.require(!slices.ContainsFunc(c.AttendeesDomains, func(name string) bool { return !domain.MatchString(name) }), "ATTENDEES_DOMAINS",
		"has to list domains such as north.example, without @ and with commas between")
	p.require(c.AttendeesSheet == "" || c.AttendeesKey.IsSet() || c.AttendeesAccount != "", "ATTENDEES_KEY",
		"has to be the JSON key of a service account that can read the sheet; or name a linked account that can in QS_ATTENDEES_ACCOUNT")
	p.require(c.AttendeesAccount == "" || c.AttendeesSheet != "", "ATTENDEES_ACCOUNT",
		"names who reads a sheet, and QS_ATTENDEES_SHEET is not set; unset it, or set that")
	if c.AttendeesKey.IsSet() {
		if _, err := accounts.ParseDelegation([]byte(c.AttendeesKey.Reveal())); err != nil {
			p.add("ATTENDEES_KEY", "is wrong. %s", err)
		}
	}
}
