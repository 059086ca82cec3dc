package feed_test

import (
	"context"
	"fmt"
	"strings"

	"questscheduler/internal/store"
)

// recording writes down what transactions write.
type recording struct {
	store.Store
	runs  int
	text  strings.Builder
	there map[store.Path]bool
}

func (r *recording) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	r.runs++
	return r.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error { return fn(ctx, recordingTx{tx, r}) })
}

func (r *recording) wrote(path store.Path, data any) {
	if r.there == nil {
		r.there = map[store.Path]bool{}
	}
	r.there[path] = data != nil
	fmt.Fprintln(&r.text, path, data)
}

type recordingTx struct {
	store.Tx
	to *recording
}

func (tx recordingTx) Create(path store.Path, data map[string]any) error {
	tx.to.wrote(path, data)
	return tx.Tx.Create(path, data)
}

func (tx recordingTx) Set(path store.Path, data map[string]any) error {
	tx.to.wrote(path, data)
	return tx.Tx.Set(path, data)
}

func (tx recordingTx) Delete(path store.Path) error {
	tx.to.wrote(path, nil)
	return tx.Tx.Delete(path)
}
