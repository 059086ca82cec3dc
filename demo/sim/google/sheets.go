package google

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"questscheduler/demo/sim/control"
)

// Sheet is a spreadsheet. One that is in the world is never changed, another takes its
// place.
type Sheet struct {
	ID string `json:"id"`
	// Tabs are the rows of cells of each, by title; empty cells and rows are "" and nil.
	Tabs map[string][][]string `json:"tabs"`
	// Roles are what people may do with it, by e-mail address: Reader, Writer or Owner.
	// Service accounts have an address too.
	Roles map[string]Role `json:"roles"`
}

// role is what somebody may do with the spreadsheet.
func (sheet *Sheet) role(email string) Role { return sheet.Roles[fold(email)] }

// AddSheet makes a spreadsheet. One that is there already stays as it is.
func (s *Server) AddSheet(sheet Sheet) error {
	return s.change(func(c *change) error {
		if c.world.sheets[sheet.ID] != nil {
			return nil
		}
		return c.changeSheet(sheet)
	})
}

// ChangeSheet replaces the tabs that it names, and removes one whose rows are nil; it gives
// the roles that it names, and NoAccess takes one away. What it does not name stays. A
// spreadsheet that is not there is made.
func (s *Server) ChangeSheet(to Sheet) error {
	return s.change(func(c *change) error { return c.changeSheet(to) })
}

func (c *change) changeSheet(to Sheet) error {
	if to.ID == "" || strings.Contains(to.ID, "/") {
		return errors.New("google simulator: a spreadsheet needs an id")
	}
	sheet := &Sheet{ID: to.ID, Tabs: map[string][][]string{}, Roles: map[string]Role{}}
	if old := c.world.sheets[to.ID]; old != nil {
		maps.Copy(sheet.Tabs, old.Tabs)
		maps.Copy(sheet.Roles, old.Roles)
	}
	for title, rows := range to.Tabs {
		sheet.Tabs[title] = copyRows(rows)
		if rows == nil {
			delete(sheet.Tabs, title)
		}
	}
	for email, role := range to.Roles {
		switch role {
		case Reader, Writer, Owner:
			sheet.Roles[fold(email)] = role
		case NoAccess:
			delete(sheet.Roles, fold(email))
		default:
			return errors.New("roles: reader, writer, owner or none")
		}
	}
	c.record.Sheets = append(c.record.Sheets, sheet)
	return nil
}

func copyRows(rows [][]string) [][]string {
	copied := make([][]string, len(rows))
	for i, row := range rows {
		copied[i] = slices.Clone(row)
	}
	return copied
}

// simulatedSheet is a spreadsheet as its control shows and changes it.
type simulatedSheet struct {
	Tabs  map[string][][]string `json:"tabs"`
	Roles map[string]Role       `json:"roles"` // by e-mail address
}

// simSheet is PUT /_sim/sheets/{spreadsheet}, see ChangeSheet; it answers as simSheetNow.
func (s *Server) simSheet(w http.ResponseWriter, r *http.Request) {
	var body simulatedSheet
	if !control.Decode(w, r, &body) {
		return
	}
	if err := s.ChangeSheet(Sheet{ID: r.PathValue("spreadsheet"), Tabs: body.Tabs, Roles: body.Roles}); err != nil {
		control.Refuse(w, http.StatusBadRequest, err)
		return
	}
	s.simSheetNow(w, r)
}

// simSheetNow is GET /_sim/sheets/{spreadsheet}.
func (s *Server) simSheetNow(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	sheet := s.world.sheets[r.PathValue("spreadsheet")]
	s.mu.Unlock()
	if sheet == nil {
		control.Refuse(w, http.StatusNotFound, errors.New("no such spreadsheet"))
		return
	}
	control.Answer(w, http.StatusOK, simulatedSheet{sheet.Tabs, sheet.Roles})
}
