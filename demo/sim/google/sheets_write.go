package google

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// updateValues writes cells from the range's first one on; a null leaves its cell as it is.
func (s *Server) updateValues(c *call) (answer, error) {
	option := c.query.Get("valueInputOption")
	if option != "RAW" && option != "USER_ENTERED" {
		return answer{}, newError(http.StatusBadRequest, "badRequest", "'valueInputOption' is required but not specified")
	}
	values, err := readValues(c.r)
	if err != nil {
		return answer{}, err
	}
	var body object
	err = s.change(func(ch *change) error {
		sheet, r, err := ch.world.sheetFor(c, Role.mayWrite)
		if err != nil {
			return err
		}
		rows, written, cells := r.write(sheet.Tabs[r.tab], values)
		if r.lastRow >= 0 && written.lastRow > r.lastRow || r.lastColumn >= 0 && written.lastColumn > r.lastColumn {
			return newError(http.StatusBadRequest, "badRequest",
				"Requested writing within range ["+c.r.PathValue("range")+"], but tried writing outside it")
		}
		body = object{
			{"spreadsheetId", sheet.ID}, {"updatedRange", written.String()}, {"updatedRows", written.lastRow - written.firstRow + 1},
			{"updatedColumns", written.lastColumn - written.firstColumn + 1}, {"updatedCells", cells},
		}
		return ch.changeSheet(Sheet{ID: sheet.ID, Tabs: map[string][][]string{r.tab: rows}})
	})
	if err != nil {
		return answer{}, err
	}
	body, err = c.mask.apply(body)
	return answer{status: http.StatusOK, body: body}, err
}

// write is a tab with values from the range's first cell on, the range that they cover, and
// how many there are. It changes nothing of rows.
func (r cellRange) write(rows [][]string, values [][]*string) (_ [][]string, written cellRange, cells int) {
	rows = copyRows(rows)
	written = cellRange{tab: r.tab, firstRow: r.firstRow, firstColumn: r.firstColumn, lastRow: r.firstRow, lastColumn: r.firstColumn}
	for i, line := range values {
		for j, value := range line {
			if value == nil {
				continue
			}
			row, column := r.firstRow+i, r.firstColumn+j
			written.lastRow, written.lastColumn = max(written.lastRow, row), max(written.lastColumn, column)
			for len(rows) <= row {
				rows = append(rows, nil)
			}
			for len(rows[row]) <= column {
				rows[row] = append(rows[row], "")
			}
			rows[row][column] = *value
			cells++
		}
	}
	return rows, written, cells
}

// readValues reads the cells of a request, nil for null.
func readValues(r *http.Request) ([][]*string, error) {
	text, err := readBody(r)
	if err != nil {
		return nil, err
	}
	var body struct {
		Range          string  `json:"range"`
		MajorDimension string  `json:"majorDimension"`
		Values         [][]any `json:"values"`
	}
	if err := json.Unmarshal(text, &body); err != nil {
		return nil, newError(http.StatusBadRequest, "badRequest", "Invalid JSON payload received.")
	}
	switch {
	case body.MajorDimension != "" && body.MajorDimension != "ROWS":
		return nil, errRowsOnly
	case body.Range != "" && body.Range != r.PathValue("range"):
		return nil, newError(http.StatusBadRequest, "badRequest",
			"Requested writing within range ["+r.PathValue("range")+"], but the body names another")
	}
	values := make([][]*string, len(body.Values))
	for i, row := range body.Values {
		for _, value := range row {
			cell, ok := cellOf(value)
			if !ok {
				return nil, newError(http.StatusBadRequest, "badRequest", "Invalid values: a cell is a text, a number or a boolean.")
			}
			values[i] = append(values[i], cell)
		}
	}
	return values, nil
}

// cellOf is a value as its cell shows it; nil for null.
func cellOf(value any) (cell *string, ok bool) {
	var text string
	switch v := value.(type) {
	case nil:
		return nil, true
	case string:
		text = v
	case bool:
		text = strings.ToUpper(strconv.FormatBool(v))
	case float64:
		text = strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return nil, false
	}
	return &text, true
}
