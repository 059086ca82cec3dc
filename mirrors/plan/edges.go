package plan

import (
	"slices"

	"questscheduler/fault"
	"questscheduler/internal/mirror"
)

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
func CheckEdges(edges, others []mirror.Edge, linked []string) error {
	given := map[mirror.Edge]mirror.Edge{}
	for _, edge := range edges {
		if err := checkEdge(edge, linked); err != nil {
			return err
		}
		if was, ok := given[pair(edge)]; ok && was == edge {
			return refuse(fault.Invalid, CodeDuplicateEdge, "The same edge is given twice. Leave one out.")
		} else if ok {
			return refuse(
				fault.Conflict, CodeContradiction,
				"Two edges from the same calendar to the same account differ in detail or target. Keep one.",
			)
		}
		given[pair(edge)] = edge
	}
	for _, other := range others {
		if edge, ok := given[pair(other)]; ok && edge != other {
			return refuse(
				fault.Conflict, CodeContradiction,
				"Another policy has an edge from this calendar to this account with another detail or target. Change it there first.",
			)
		}
	}
	return nil
}

func checkEdge(edge mirror.Edge, linked []string) error {
	switch {
	case !slices.Contains(linked, edge.FromAccountID):
		return refuse(fault.NotFound, CodeUnknownAccount, "from_account_id names no account of yours. Link it first.")
	case !slices.Contains(linked, edge.ToAccountID):
		return refuse(fault.NotFound, CodeUnknownAccount, "to_account_id names no account of yours. Link it first.")
	case edge.FromAccountID == edge.ToAccountID:
		return refuse(fault.Invalid, CodeEdgeToItself, "An edge leads from one account to another, not to itself. Choose another account.")
	case rank(edge.Detail) < 0:
		return refuse(fault.Invalid, CodeBadEdge, "detail must be BUSY, TITLE or FULL.")
	case edge.Target != mirror.Overlay && edge.Target != mirror.PrimaryTarget:
		return refuse(fault.Invalid, CodeBadEdge, "target must be overlay or primary.")
	}
	return nil
}

func refuse(kind fault.Kind, code, message string) error {
	return &fault.Error{Kind: kind, Code: code, Message: message}
}

// pair is what may have one edge alone: the calendar and the account.
func pair(edge mirror.Edge) mirror.Edge {
	edge.Detail, edge.Target = "", ""
	return edge
}

// rank orders details from the least; -1 for one that does not exist.
func rank(detail mirror.Detail) int {
	return slices.Index([]mirror.Detail{mirror.Busy, mirror.Title, mirror.Full}, detail)
}
