package api

import (
	"encoding/json"

	"questscheduler/internal/store"
)

// maxPage is how many bytes of JSON the items of a page have together. One that is
// larger comes alone.
const maxPage = 1 << 20

// page is embedded in the data of a list: where the list goes on.
type page struct {
	next string
}

func (p page) nextCursor() string { return p.next }

// listed reads the page of a list that is asked for: walk gives its items from a
// cursor on to take, and gives where it ended (store.Walk). The page ends with the
// last item, with as many as were asked for, or where the next one is too many
// bytes.
func listed[Item, Answer any](
	place listing, asked Paging, answer func(Item) Answer,
	walk func(after *store.Cursor, take func(Item) (bool, error)) (*store.Cursor, error),
) (answers []Answer, is page, err error) {
	after, err := place.cursor(asked.Cursor)
	if err != nil {
		return nil, page{}, err
	}
	answers = []Answer{}
	bytes := 0
	next, err := walk(after, func(item Item) (taken bool, err error) {
		one := answer(item)
		text, err := json.Marshal(one)
		if err != nil {
			return false, err
		}
		if bytes += len(text); bytes > maxPage && len(answers) > 0 {
			return false, nil
		}
		answers = append(answers, one)
		return true, nil
	})
	if err != nil {
		return nil, page{}, err
	}
	is.next, err = place.token(next)
	return answers, is, err
}
