package demo

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
	primaryDomain   = "north.example"
	secondaryDomain = "south.example"
)

// serviceAccount is the service account that acts as people of the first domain.
const serviceAccount = "sync@demo.iam.gserviceaccount.com"

// sheetID is the spreadsheet that names their second addresses.
const sheetID = "demo-user-mappings"

// colleagues have an address in both domains; the last row of the sheet is inactive.
var colleagues = []string{"dora", "emil"}

// Sheet are the second addresses of the demo, and people who have one. They are outside
// the party.
type Sheet struct {
	SpreadsheetID string `json:"spreadsheet_id"`
	// People's first accounts; their tokens also open the spreadsheet.
	People map[string]Colleague `json:"people"`
}

// Colleague is somebody with an account in each domain.
type Colleague struct {
	Account
	Second Account `json:"second"`
}

// openColleagues makes the people with their spreadsheet and their domain's service
// account, once, and returns its key.
func (s *Simulators) openColleagues(world *World) (key string, err error) {
	encoded, err := s.Google.AddServiceAccount(google.ServiceAccount{
		Email: serviceAccount, Domains: []string{primaryDomain}, Scopes: []string{google.ScopeEvents},
	})
	if err != nil || world.Attendees != nil {
		return string(encoded), err
	}
	made := Sheet{SpreadsheetID: sheetID, People: map[string]Colleague{}}
	sheet := google.Sheet{ID: sheetID, Roles: map[string]google.Role{serviceAccount: google.Reader}}
	rows := [][]string{{"Primary", "Secondary", "Status"}}
	for _, name := range colleagues {
		var person Colleague
		person.Account, err = s.openColleague(name, name+"@"+primaryDomain, google.ScopeEvents, google.ScopeSheets)
		if err != nil {
			return "", err
		}
		person.Second, err = s.openColleague(name+"-second", name+"@"+secondaryDomain, google.ScopeEvents)
		if err != nil {
			return "", err
		}
		made.People[name] = person
		sheet.Roles[person.Email] = google.Writer
		rows = append(rows, []string{person.Email, person.Second.Email, "active"})
	}
	rows = append(rows, []string{"finn@" + primaryDomain, "finn@" + secondaryDomain, "inactive"})
	sheet.Tabs = map[string][][]string{mappings.Tab: rows}
	if err := s.Google.AddSheet(sheet); err != nil {
		return "", err
	}
	world.Attendees = &made
	return string(encoded), nil
}

// openColleague makes a Google account with a grant of some scopes.
func (s *Simulators) openColleague(key, email string, scopes ...string) (Account, error) {
	if _, err := s.Google.AddUser(google.User{Key: key, Sub: "sub-" + key, Email: email, TimeZone: "Europe/Berlin"}); err != nil {
		return Account{}, err
	}
	grant, err := s.Google.NewGrant(key, scopes...)
	return Account{Email: email, GoogleToken: grant.AccessToken, CalendarID: email}, err
}

// attend switches second addresses on, by the demo's spreadsheet.
func (s *Simulators) attend(cfg *config.Config, world *World) {
	cfg.AttendeesSheet, cfg.AttendeesDomains = world.Attendees.SpreadsheetID, []string{primaryDomain}
	cfg.AttendeesKey = config.NewSecret(s.serviceKey)
}

//go:embed attendees.txt
var attendeesSource string

var attendeesText = template.Must(template.New("demo attendees").Parse(attendeesSource))

// SecondAddresses returns the shell lines that try them; "" in a demo without.
func (r Ready) SecondAddresses() (string, error) {
	if r.Attendees == nil {
		return "", nil
	}
	var lines strings.Builder
	err := attendeesText.Execute(&lines, r)
	return lines.String(), err
}
