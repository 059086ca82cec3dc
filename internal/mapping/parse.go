package mapping

// Skipped is a row that was not taken, or replaced by a later one.
type Skipped struct {
	// Row is its number in the sheet, whose header is row 1.
	Row int
	// Reason is a sentence for who keeps the sheet.
	Reason string
}

// MaxRows is the most rows that Parse takes.
const MaxRows = 20_000
