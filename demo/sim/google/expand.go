package google

// items are what a listing shows of one stored event: with singleEvents the
// instances of a series in its place.
func (l *listing) items(c *calendar, e *event) ([]*event, error) {
	if !l.singleEvents || !e.recurring() {
		if l.wants(c, e) {
			return []*event{e}, nil
		}
		return nil, nil
	}
	all, err := c.instances(e, l.filter.timeMax)
	if err != nil {
		return nil, err
	}
	var list []*event
	for _, one := range all {
		if l.wants(c, one) {
			list = append(list, one)
		}
	}
	return list, nil
}

// wants says whether a listing shows an event. Deleted ones are hidden unless
// there is a sync token, they are asked for, or were deleted since updatedMin.
// Deleted instances of a series that lives are shown beside it.
func (l *listing) wants(c *calendar, e *event) bool {
	switch {
	case !e.Cancelled:
		return l.filter.shows(e)
	case l.syncToken != "":
		return true
	case e.Series != "" && !l.singleEvents && c.lives(e.Series):
		return true
	case !l.filter.updatedMin.IsZero():
		return !e.Updated.Before(l.filter.updatedMin)
	}
	return l.showDeleted && !c.vanished(e, l.visibleSince)
}
