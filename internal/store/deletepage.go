package store

import "context"

// DeletePage deletes the documents that a query finds, and those that related names for each,
// in one transaction. It returns how many the query found. related may be nil.
func DeletePage(ctx context.Context, documents Store, query Bound, related func(Path) Path) (deleted int, err error) {
	err = documents.Run(ctx, func(ctx context.Context, tx Tx) error {
		deleted = 0
		found, err := tx.Query(ctx, query)
		if err != nil {
			return err
		}
		for _, doc := range found {
			if related != nil {
				err = tx.Delete(related(doc.Path))
			}
			if err == nil {
				err = tx.Delete(doc.Path)
			}
			if err != nil {
				return err
			}
		}
		deleted = len(found)
		return nil
	})
	return deleted, err
}
