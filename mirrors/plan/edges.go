package plan

import "questscheduler/internal/mirror"

// Codes of CheckEdges' errors.
const (
	CodeUnknownAccount = "unknown_account"
	CodeEdgeToItself   = "edge_to_itself"
	CodeDuplicateEdge  = "duplicate_edge"
	CodeContradiction  = "edge_contradiction"
	CodeBadEdge        = "bad_edge"
)

// CheckEdges reports what is wrong with the edges of a policy. others are the edges of the
// owner's other policies, linked the ids of the owner's accounts. Kinds: NotFound for an
// account that is not among linked; Invalid for an edge from an account to itself, one given
// twice, and a detail or target that does not exist; Conflict for one that gives the
// same (from calendar, to account) another detail or target.
func CheckEdges(edges, others []mirror.Edge, linked []string) error { panic("unwritten") }
