package mappings

// Outcome says how a load of the mappings ended.
type Outcome string

// The outcomes.
const (
	LoadUnchanged Outcome = "unchanged"
	LoadChanged   Outcome = "changed" // another version took effect
	LoadHeld      Outcome = "held"    // it awaits a person's confirmation
	LoadFailed    Outcome = "failed"
)

// Load is a load of the mappings, counted after it was stored.
type Load struct{ Outcome Outcome }
