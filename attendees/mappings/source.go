package mappings

import "context"

// Source is where the mappings are kept.
type Source interface {
	// Rows reads the rows below the header, for Parse: the first one is row 2. An
	// error has a kind and a sentence for who keeps the mappings.
	Rows(ctx context.Context) ([][]string, error)
	// String names the source for people.
	String() string
}
