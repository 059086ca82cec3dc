package main

import (
	_ "embed"
	"strings"
	"text/template"

	"questscheduler/attendees/mappings"
	"questscheduler/demo/sim/google"
	"questscheduler/internal/config"
)

// The two domains whose people are invited at both addresses.
const (
	demoPrimaryDomain   = "north.example"
	demoSecondaryDomain = "south.example"
)

// demoService is the service account that acts as people of the first domain.
const demoService = "sync@demo.iam.gserviceaccount.com"

// demoSheetID is the spreadsheet that names their second addresses.
const demoSheetID = "demo-user-mappings"

// demoColleagues have an address in both domains; the last row of the sheet is inactive.
var demoColleagues = []string{"dora", "emil"}

// demoSheet are the second addresses of the demo, and people who have one. They are outside
// the party.
type demoSheet struct {
	SpreadsheetID string `json:"spreadsheet_id"`
	// People's first accounts; their tokens also open the spreadsheet.
	People map[string]demoColleague `json:"people"`
}

// demoColleague is somebody with an account in each domain.
type demoColleague struct {
	demoAccount
	Second demoAccount `json:"second"`
}

// openColleagues makes the people with their spreadsheet and their domain's service
// account, once, and returns its key.
func (s *simulators) openColleagues(world *demoWorld) (key string, err error) {
	encoded, err := s.googleServer.AddServiceAccount(google.ServiceAccount{
		Email: demoService, Domains: []string{demoPrimaryDomain}, Scopes: []string{google.ScopeEvents},
	})
	if err != nil || world.Attendees != nil {
		return string(encoded), err
	}
	made := demoSheet{SpreadsheetID: demoSheetID, People: map[string]demoColleague{}}
	sheet := google.Sheet{ID: demoSheetID, Roles: map[string]google.Role{demoService: google.Reader}}
	rows := [][]string{{"Primary", "Secondary", "Status"}}
	for _, name := range demoColleagues {
		var person demoColleague
		person.demoAccount, err = s.openColleague(name, name+"@"+demoPrimaryDomain, google.ScopeEvents, google.ScopeSheets)
		if err != nil {
			return "", err
		}
		person.Second, err = s.openColleague(name+"-second", name+"@"+demoSecondaryDomain, google.ScopeEvents)
		if err != nil {
			return "", err
		}
		made.People[name] = person
		sheet.Roles[person.Email] = google.Writer
		rows = append(rows, []string{person.Email, person.Second.Email, "active"})
	}
	rows = append(rows, []string{"finn@" + demoPrimaryDomain, "finn@" + demoSecondaryDomain, "inactive"})
	sheet.Tabs = map[string][][]string{mappings.Tab: rows}
	if err := s.googleServer.AddSheet(sheet); err != nil {
		return "", err
	}
	world.Attendees = &made
	return string(encoded), nil
}

// openColleague makes a Google account with a grant of some scopes.
func (s *simulators) openColleague(key, email string, scopes ...string) (demoAccount, error) {
	if _, err := s.googleServer.AddUser(google.User{Key: key, Sub: "sub-" + key, Email: email, TimeZone: "Europe/Berlin"}); err != nil {
		return demoAccount{}, err
	}
	grant, err := s.googleServer.NewGrant(key, scopes...)
	return demoAccount{Email: email, GoogleToken: grant.AccessToken, CalendarID: email}, err
}

// attend switches second addresses on, by the demo's spreadsheet.
func (s *simulators) attend(cfg *config.Config, world *demoWorld) {
	cfg.AttendeesSheet, cfg.AttendeesDomains = world.Attendees.SpreadsheetID, []string{demoPrimaryDomain}
	cfg.AttendeesKey = config.NewSecret(s.serviceKey)
}

//go:embed demo_attendees.txt
var demoAttendeesSource string

var demoAttendees = template.Must(template.New("demo attendees").Parse(demoAttendeesSource))

// SecondAddresses returns the shell lines that try them; "" in a demo without.
func (r demoReady) SecondAddresses() (string, error) {
	if r.Attendees == nil {
		return "", nil
	}
	var lines strings.Builder
	err := demoAttendees.Execute(&lines, r)
	return lines.String(), err
}
