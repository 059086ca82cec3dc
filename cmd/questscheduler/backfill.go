package main

// backfillCommand brings an existing deployment in (data-contract.md).
type backfillCommand struct {
	Tokens backfillTokensCommand `cmd:"" help:"Seal refresh tokens of before: the web app's become linked accounts, and ours are sealed under the first key."`
}
