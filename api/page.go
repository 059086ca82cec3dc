package api

import (
	"encoding/json"

	"questscheduler/internal/store"
)

// maxPage is the size of a page's items as JSON. A larger item comes alone.
const maxPage = 1 << 20

// page is embedded in the data of a list; next is the cursor of the next page.
type page struct{ next string }

func (p page) nextCursor() string { return p.next }

// listed reads a page: walk passes the items of a part to take and returns where
// it ended (store.Walk). The page ends with the last item, at the limit, or before
// the item that exceeds maxPage.
func listed[Item, Answer any](
	place listing, asked Paging, answer func(Item) Answer,
	walk func(part store.Paging, take func(Item) (bool, error)) (*store.Cursor, error),
) (answers []Answer, is page, err error) {
	after, err := place.cursor(asked.Cursor)
	if err != nil {
		return nil, page{}, err
	}
	answers = []Answer{}
	bytes := 0
	next, err := walk(store.Paging{Limit: asked.Limit, After: after}, func(item Item) (taken bool, err error) {
		one := answer(item)
		text, err := json.Marshal(one)
		if err != nil {
			return false, err
		}
		bytes += len(text)
		if bytes > maxPage && len(answers) > 0 {
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
