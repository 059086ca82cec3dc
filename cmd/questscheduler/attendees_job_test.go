package main

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"questscheduler/demo"
)

// attendeesJob is what somebody does with meetings whose guests have second addresses, in
// steps as those of mainJob. It knows the line of `demo --json`, and speaks Calendar v3,
// Sheets and POST /admin/reload-mappings.
type attendeesJob struct {
	*outside
	start time.Time
	// meetings are ids of events in Emil's calendar, by name.
	meetings map[string]string
	// guests are whom each meeting should have, with the responses of those who gave one.
	guests map[string]map[string]string
	held   string // the version that awaits confirmation
}

const (
	doraNorth, doraSouth = "dora@north.example", "dora@south.example"
	emilNorth, emilSouth = "emil@north.example", "emil@south.example"
	client               = "client@elsewhere.example"
)

// Responses of guests.
const (
	open     = "needsAction"
	declined = "declined"
)

func newAttendeesJob(o *outside) *attendeesJob {
	return &attendeesJob{
		outside: o, start: time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 9).Add(9 * time.Hour),
		meetings: map[string]string{}, guests: map[string]map[string]string{},
	}
}

func (s *attendeesJob) steps() []step {
	return []step{
		{"invite Dora", func() error { return s.invite("plan", doraNorth, client) }, s.want("plan", doraNorth, client, doraSouth)},
		{"change that often", s.changeOften, s.asWanted},
		{"invite her to a series", func() error { return s.inviteWeekly("weekly", doraNorth) }, s.want("weekly", doraNorth, doraSouth)},
		{"invite her at both", func() error { return s.invite("both", doraNorth, doraSouth) }, s.want("both", doraNorth, doraSouth)},
		{
			"invite Dora and Emil", func() error { return s.invite("two", doraNorth, emilNorth) },
			s.want("two", doraNorth, emilNorth, doraSouth, emilSouth),
		},
		{"invite her to decline", func() error { return s.invite("decline", doraNorth) }, s.want("decline", doraNorth, doraSouth)},
		{"decline", func() error { return s.decline("decline") }, s.wantDeclined("decline", doraNorth)},
		{"invite her to be removed", func() error { return s.invite("remove", doraNorth) }, s.want("remove", doraNorth, doraSouth)},
		{"remove her second address", func() error { return s.remove("remove", doraSouth) }, s.want("remove", doraNorth)},
		{"change that again", func() error { return s.rename("remove", "Changed after it was removed") }, s.asWanted},
		{"make her row inactive", func() error { return s.setStatus("C2", "inactive") }, s.withdrawn},
		{"invite her without a second address", func() error { return s.invite("later", doraNorth) }, s.want("later", doraNorth)},
		{"make it active again", func() error { return s.setStatus("C2", "active") }, s.addedAgain},
		{"make all rows inactive at once", s.loseAll, s.asWanted},
		{"confirm that", s.confirm, s.allWithdrawn},
	}
}

// emil calls Calendar v3 in Emil's calendar, and fails unless it succeeds.
func (s *attendeesJob) emil(method, event string, body any) (map[string]any, error) {
	return s.as(s.ready.Attendees.People["emil"].Account, method, event, body)
}

// as calls Calendar v3 as the owner of an account, in its calendar.
func (s *attendeesJob) as(who demo.Account, method, event string, body any) (map[string]any, error) {
	path := eventsOf(who.CalendarID)
	if event != "" {
		path += "/" + event
	}
	return s.ok(method, s.ready.Google+"/calendar/v3/"+path, who.GoogleToken, body)
}

func (s *attendeesJob) ok(method, address, token string, body any) (map[string]any, error) {
	got, err := s.try(method, address, "Bearer "+token, body)
	if err == nil && got.status != http.StatusOK {
		err = fmt.Errorf("%s %s answers %d: %v", method, address, got.status, got.body)
	}
	return got.body, err
}

func (s *attendeesJob) invite(name string, guests ...string) error {
	return s.insert(name, between(s.start.Add(time.Duration(len(s.meetings))*24*time.Hour), "UTC"), guests)
}

func (s *attendeesJob) inviteWeekly(name string, guests ...string) error {
	body := between(s.start.Add(5*time.Hour), "Europe/Berlin")
	body["recurrence"] = []string{"RRULE:FREQ=WEEKLY;COUNT=6"}
	return s.insert(name, body, guests)
}

func (s *attendeesJob) insert(name string, body map[string]any, guests []string) error {
	body["summary"] = name
	var all []any
	for _, guest := range guests {
		all = append(all, map[string]any{"email": guest})
	}
	body["attendees"] = all
	event, err := s.emil(http.MethodPost, "", body)
	if err == nil {
		s.meetings[name], _ = event["id"].(string)
	}
	return err
}

func (s *attendeesJob) rename(name, title string) error {
	_, err := s.emil(http.MethodPatch, s.meetings[name], map[string]any{"summary": title})
	return err
}

// changeOften changes a meeting's title, time and place, as fast as it can.
func (s *attendeesJob) changeOften() error {
	for i := range 5 {
		body := between(s.start.Add(time.Duration(i)*time.Hour), "UTC")
		body["summary"], body["location"] = fmt.Sprintf("Planning %d", i), fmt.Sprintf("Room %d", i)
		if _, err := s.emil(http.MethodPatch, s.meetings["plan"], body); err != nil {
			return err
		}
	}
	return nil
}

// decline answers a meeting from Dora's second account.
func (s *attendeesJob) decline(name string) error {
	return s.editGuests(s.ready.Attendees.People["dora"].Second, name, func(guests []map[string]any) []map[string]any {
		for _, guest := range guests {
			if guest["email"] == doraSouth {
				guest["responseStatus"] = declined
			}
		}
		return guests
	})
}

// remove takes a guest from the list, as the organiser does by hand.
func (s *attendeesJob) remove(name, address string) error {
	return s.editGuests(s.ready.Attendees.People["emil"].Account, name, func(guests []map[string]any) []map[string]any {
		return slices.DeleteFunc(guests, func(guest map[string]any) bool { return guest["email"] == address })
	})
}

// editGuests changes the guests of a meeting in somebody's calendar.
func (s *attendeesJob) editGuests(as demo.Account, name string, edit func([]map[string]any) []map[string]any) error {
	event, err := s.as(as, http.MethodGet, s.meetings[name], nil)
	if err != nil {
		return err
	}
	_, err = s.as(as, http.MethodPatch, s.meetings[name], map[string]any{"attendees": edit(list(event["attendees"]))})
	return err
}

// write puts values into cells of the spreadsheet, as somebody who keeps it does.
func (s *attendeesJob) write(cells string, values [][]any) error {
	address := s.ready.Google + "/v4/spreadsheets/" + s.ready.Attendees.SpreadsheetID + "/values/" +
		url.PathEscape("User Mappings!"+cells) + "?valueInputOption=RAW"
	_, err := s.ok(http.MethodPut, address, s.ready.Attendees.People["dora"].GoogleToken, map[string]any{"values": values})
	return err
}

// reload has the spreadsheet loaded, and returns the answer's data.
func (s *attendeesJob) reload(body any) (map[string]any, error) {
	answered, err := s.ok(http.MethodPost, s.ready.API+"/admin/reload-mappings", s.ready.AdminToken, body)
	data, _ := answered["data"].(map[string]any)
	return data, err
}

func (s *attendeesJob) setStatus(cell, status string) error {
	if err := s.write(cell, [][]any{{status}}); err != nil {
		return err
	}
	_, err := s.reload(nil)
	return err
}

// loseAll takes all second addresses away, which is held until somebody confirms it.
func (s *attendeesJob) loseAll() error {
	if err := s.write("C2:C3", [][]any{{"inactive"}, {"inactive"}}); err != nil {
		return err
	}
	data, err := s.reload(nil)
	if err != nil {
		return err
	}
	s.held, _ = at(data, "held", "version").(string)
	if s.held == "" || data["mappings"] != 2.0 {
		return fmt.Errorf("the loss of everything is not held: %v", data)
	}
	return nil
}

func (s *attendeesJob) confirm() error {
	data, err := s.reload(map[string]any{"confirm": s.held})
	if err == nil && (data["mappings"] != 0.0 || data["held"] != nil) {
		err = fmt.Errorf("after it was confirmed: %v", data)
	}
	return err
}

// want is a check that a meeting has these guests, and the others those that they had.
func (s *attendeesJob) want(name string, guests ...string) func() error {
	return func() error {
		s.guests[name] = map[string]string{}
		for _, guest := range guests {
			s.guests[name][guest] = open
		}
		return s.asWanted()
	}
}

func (s *attendeesJob) wantDeclined(name string, guests ...string) func() error {
	want := s.want(name, append(guests, doraSouth)...)
	return func() error {
		_ = want() // sets what is wanted
		s.guests[name][doraSouth] = declined
		return s.asWanted()
	}
}

// withdrawn: Dora's second address is gone wherever we added it.
func (s *attendeesJob) withdrawn() error {
	for _, name := range []string{"plan", "weekly", "two", "decline"} {
		delete(s.guests[name], doraSouth)
	}
	return s.asWanted()
}

// addedAgain: it is back, except where it had declined or a person removed it.
func (s *attendeesJob) addedAgain() error {
	for _, name := range []string{"plan", "weekly", "two", "later"} {
		s.guests[name][doraSouth] = open
	}
	return s.asWanted()
}

// allWithdrawn: no second address is left but the one that a person invited.
func (s *attendeesJob) allWithdrawn() error {
	for name, guests := range s.guests {
		if name != "both" {
			delete(guests, doraSouth)
			delete(guests, emilSouth)
		}
	}
	return s.asWanted()
}

// asWanted checks the guests of every meeting.
func (s *attendeesJob) asWanted() error {
	for _, name := range slices.Sorted(maps.Keys(s.guests)) {
		event, err := s.emil(http.MethodGet, s.meetings[name], nil)
		if err != nil {
			return err
		}
		var got, want []string
		for _, guest := range list(event["attendees"]) {
			got = append(got, fmt.Sprint(guest["email"], " ", guest["responseStatus"]))
		}
		for guest, response := range s.guests[name] {
			want = append(want, guest+" "+response)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			return fmt.Errorf("%s has the guests %v, want %v", name, got, want)
		}
	}
	return nil
}
