package store

// Select declares a query for the documents of a collection that pass all filters, in
// ascending order of a field; order "" is the order of paths.
func Select(name, collection, order string, filters ...Filter) *Query {
	query := &Query{Name: name, Collection: collection, Filters: filters}
	if order != "" {
		query.Order = []Order{{Path: Field(order)}}
	}
	return query
}

// Where filters by a top-level field; the value is bound later (Query.With).
func Where(field string, op Op) Filter { return Filter{Path: Field(field), Op: op} }

// Set is the update of a top-level field.
func Set(field string, value any) Update { return Update{Path: Field(field), Value: value} }
