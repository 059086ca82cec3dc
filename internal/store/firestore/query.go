package firestore

import (
	"cmp"
	"context"
	"fmt"
	"math"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"questscheduler/internal/store"
)

// query runs a bound query that was checked.
func (s *Store) query(ctx context.Context, in *session, bound store.Bound) ([]store.Document, error) {
	structured, err := s.structured(bound)
	if err != nil {
		return nil, err
	}
	var out []store.Document
	err = s.ask(ctx, in, bound.Parent, structured, func(document *pb.Document) {
		out = append(out, s.decode(document))
	})
	if err != nil {
		return nil, fmt.Errorf("query %q: %w", bound.Query.Name, err)
	}
	return out, nil
}

// ask sends a query and passes each document to found.
func (s *Store) ask(ctx context.Context, in *session, parent store.Path, query *pb.StructuredQuery, found func(*pb.Document)) error {
	ctx, cancel := s.requestFor(ctx, cmp.Or(in.timeout, s.timeout))
	defer cancel()
	request := &pb.RunQueryRequest{Parent: s.root, QueryType: &pb.RunQueryRequest_StructuredQuery{StructuredQuery: query}}
	if parent != "" {
		request.Parent = s.name(parent)
	}
	switch {
	case in.id != nil:
		request.ConsistencySelector = &pb.RunQueryRequest_Transaction{Transaction: in.id}
	case in.begin != nil:
		request.ConsistencySelector = &pb.RunQueryRequest_NewTransaction{NewTransaction: in.begin}
	case in.at != nil:
		request.ConsistencySelector = &pb.RunQueryRequest_ReadTime{ReadTime: in.at}
	}
	stream, err := s.client.RunQuery(ctx, request)
	if err != nil {
		return err
	}
	return receive(stream, func(response *pb.RunQueryResponse) {
		in.note(response.GetTransaction())
		// The time may grow while documents arrive; those before it did not change until then.
		if at := response.GetReadTime(); in.steady && request.GetReadTime() == nil && at != nil {
			in.at = at
		}
		if response.GetDocument() != nil {
			found(response.GetDocument())
		}
	})
}

// structured translates a bound query. Its order ends with the document's name, in the
// direction of the last key, as the port breaks ties.
func (s *Store) structured(bound store.Bound) (*pb.StructuredQuery, error) {
	query := &pb.StructuredQuery{
		From: []*pb.StructuredQuery_CollectionSelector{{CollectionId: bound.Query.Collection, AllDescendants: bound.Query.Group}},
	}
	var conditions []*pb.StructuredQuery_Filter
	for i, filter := range bound.Query.Filters {
		arg, err := store.NormalizeValue(bound.Args[i])
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, condition(filter, arg))
	}
	query.Where = all(conditions)
	direction := pb.StructuredQuery_ASCENDING
	for _, order := range bound.Query.Order {
		direction = directionOf(order)
		query.OrderBy = append(query.OrderBy, &pb.StructuredQuery_Order{Field: field(fieldName(order.Path)), Direction: direction})
	}
	query.OrderBy = append(query.OrderBy, &pb.StructuredQuery_Order{Field: field("__name__"), Direction: direction})
	if bound.Limit > 0 {
		query.Limit = wrapperspb.Int32(int32(min(bound.Limit, math.MaxInt32)))
	}
	if bound.After == nil {
		return query, nil
	}
	query.StartAt = &pb.Cursor{} // Before is false: behind the cursor
	for _, value := range bound.After.Values {
		normal, err := store.NormalizeValue(value)
		if err != nil {
			return nil, err
		}
		query.StartAt.Values = append(query.StartAt.Values, encode(normal))
	}
	query.StartAt.Values = append(query.StartAt.Values, s.reference(bound.After.Path))
	return query, nil
}

func (s *Store) reference(path store.Path) *pb.Value {
	return &pb.Value{ValueType: &pb.Value_ReferenceValue{ReferenceValue: s.name(path)}}
}

func field(name string) *pb.StructuredQuery_FieldReference {
	return &pb.StructuredQuery_FieldReference{FieldPath: name}
}

func directionOf(order store.Order) pb.StructuredQuery_Direction {
	if order.Descending {
		return pb.StructuredQuery_DESCENDING
	}
	return pb.StructuredQuery_ASCENDING
}

var operators = map[store.Op]pb.StructuredQuery_FieldFilter_Operator{
	store.Equal:          pb.StructuredQuery_FieldFilter_EQUAL,
	store.In:             pb.StructuredQuery_FieldFilter_IN,
	store.ArrayContains:  pb.StructuredQuery_FieldFilter_ARRAY_CONTAINS,
	store.Less:           pb.StructuredQuery_FieldFilter_LESS_THAN,
	store.LessOrEqual:    pb.StructuredQuery_FieldFilter_LESS_THAN_OR_EQUAL,
	store.Greater:        pb.StructuredQuery_FieldFilter_GREATER_THAN,
	store.GreaterOrEqual: pb.StructuredQuery_FieldFilter_GREATER_THAN_OR_EQUAL,
}

// condition translates a filter. Null and NaN have operators of their own.
func condition(filter store.Filter, arg any) *pb.StructuredQuery_Filter {
	name := field(fieldName(filter.Path))
	unary := func(op pb.StructuredQuery_UnaryFilter_Operator) *pb.StructuredQuery_Filter {
		return &pb.StructuredQuery_Filter{FilterType: &pb.StructuredQuery_Filter_UnaryFilter{UnaryFilter: &pb.StructuredQuery_UnaryFilter{
			Op: op, OperandType: &pb.StructuredQuery_UnaryFilter_Field{Field: name},
		}}}
	}
	if filter.Op == store.Equal {
		if double, isDouble := arg.(float64); isDouble && math.IsNaN(double) {
			return unary(pb.StructuredQuery_UnaryFilter_IS_NAN)
		}
		if arg == nil {
			return unary(pb.StructuredQuery_UnaryFilter_IS_NULL)
		}
	}
	return &pb.StructuredQuery_Filter{FilterType: &pb.StructuredQuery_Filter_FieldFilter{FieldFilter: &pb.StructuredQuery_FieldFilter{
		Field: name, Op: operators[filter.Op], Value: encode(arg),
	}}}
}

// all is the conjunction of conditions; nil of none.
func all(conditions []*pb.StructuredQuery_Filter) *pb.StructuredQuery_Filter {
	switch len(conditions) {
	case 0:
		return nil
	case 1:
		return conditions[0]
	}
	all := &pb.StructuredQuery_CompositeFilter{Op: pb.StructuredQuery_CompositeFilter_AND, Filters: conditions}
	return &pb.StructuredQuery_Filter{FilterType: &pb.StructuredQuery_Filter_CompositeFilter{CompositeFilter: all}}
}
