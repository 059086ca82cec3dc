package main

// backfillCommand brings an existing deployment in: tokens
// first, then the events, then the calendars they stand in.
type backfillCommand struct {
	Tokens  backfillTokensCommand  `cmd:"" help:"Seal refresh tokens of before: the web app's become linked accounts, and ours are sealed under the first key."`
	Index   backfillIndexCommand   `cmd:"" help:"Have the events of finalised polls followed that nobody follows yet. Nothing is announced."`
	Watches backfillWatchesCommand `cmd:"" help:"Make watch channels for the calendars of followed events that have none."`
}
