package google

import (
	"encoding/json"
	"net/http"
	"strings"
)

const sheetsBase = "/v4"

// sheetsRoutes are those of the Sheets API.
func sheetsRoutes() []route {
	const values = "/spreadsheets/{spreadsheetId}/values/{range}"
	return []route{
		{"spreadsheets.values.get", "GET", values, readSheets, valuesShape, (*Server).getValues},
		{"spreadsheets.values.update", "PUT", values, writeSheets, updatedShape, (*Server).updateValues},
	}
}

// sheets says whether the method is one of the Sheets API.
func (rt route) sheets() bool { return strings.HasPrefix(rt.name, "spreadsheets.") }

// valuesShape and updatedShape are what a fields mask may ask for.
var (
	valuesShape  = shape{"range": nil, "majorDimension": nil, "values": nil}
	updatedShape = shape{
		"spreadsheetId": nil, "updatedRange": nil, "updatedRows": nil, "updatedColumns": nil, "updatedCells": nil,
		"updatedData": nil,
	}
)

// The size of a tab, unless it holds more.
const tabRows, tabColumns = 1000, 26

// sheetFor finds the spreadsheet and the range that a call names, if its user may do so.
func (w *world) sheetFor(c *call, may func(Role) bool) (*Sheet, cellRange, error) {
	sheet := w.sheets[c.r.PathValue("spreadsheetId")]
	if sheet == nil {
		return nil, cellRange{}, errNoSheet
	}
	if !may(sheet.role(c.user.Email)) {
		return nil, cellRange{}, errSheetForbidden
	}
	r, ok := parseRange(c.r.PathValue("range"))
	if _, there := sheet.Tabs[r.tab]; !ok || !there {
		return nil, cellRange{}, errRange(c.r.PathValue("range"))
	}
	return sheet, r, nil
}

// getValues shows cells. What is empty at the end of a row, and rows at the end that are,
// are left out.
func (s *Server) getValues(c *call) (answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sheet, r, err := s.world.sheetFor(c, Role.mayRead)
	if err != nil {
		return answer{}, err
	}
	if dimension := c.query.Get("majorDimension"); dimension != "" && dimension != "ROWS" {
		return answer{}, errRowsOnly
	}
	rows := sheet.Tabs[r.tab]
	if r.lastRow < 0 {
		r.lastRow = max(tabRows, len(rows), r.firstRow+1) - 1
	}
	if r.lastColumn < 0 {
		r.lastColumn = tabColumns - 1
		for _, row := range rows {
			r.lastColumn = max(r.lastColumn, len(row)-1)
		}
	}
	body := object{{"range", r.String()}, {"majorDimension", "ROWS"}}
	if cells := r.cells(rows); len(cells) > 0 {
		text, err := json.Marshal(cells)
		if err != nil {
			return answer{}, err
		}
		body = append(body, field{"values", json.RawMessage(text)})
	}
	body, err = c.mask.apply(body)
	return answer{status: http.StatusOK, body: body}, err
}

// cells are those of the range, without empty ones at the end.
func (r cellRange) cells(rows [][]string) [][]string {
	rows = rows[min(r.firstRow, len(rows)):min(r.lastRow+1, len(rows))]
	list, used := make([][]string, len(rows)), 0
	for i, row := range rows {
		list[i] = row[min(r.firstColumn, len(row)):min(r.lastColumn+1, len(row))]
		for len(list[i]) > 0 && list[i][len(list[i])-1] == "" {
			list[i] = list[i][:len(list[i])-1]
		}
		if len(list[i]) > 0 {
			used = i + 1
		} else {
			list[i] = []string{} // nil would be null
		}
	}
	return list[:used]
}
