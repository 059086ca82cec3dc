package google

// Changes counts what has changed in the simulator so far, but for pushes on
// their way. Where it is what it was, so are events, calendars, grants and
// tokens: a test that watches need not look again.
func (s *Server) Changes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes
}

// Version grows with each change of an event of a calendar; 0 where none ever
// changed, or there is no such calendar.
func (s *Server) Version(calendarID string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cal := s.world.calendars[calendarID]; cal != nil {
		return cal.lastVersion()
	}
	return 0
}

// ChangedSince names the events of a calendar that a listing from a sync token
// would show, oldest change first, whoever may read it. good is false where the
// token was given for something else or has ended, so that only a full listing
// would help.
func (s *Server) ChangedSince(calendarID, token string) (ids []string, good bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	cal := s.world.calendars[calendarID]
	var since syncToken
	if cal == nil || !decodeToken(token, &since) || since.Calendar != cal.ID ||
		s.world.ended(cal, since, s.clock.Now(), s.opt.SyncTokenLife) != nil {
		return nil, false
	}
	for _, entry := range cal.log[cal.firstAfter(since.Since):] {
		if cal.current(entry) {
			ids = append(ids, entry.id)
		}
	}
	return ids, true
}

// beside tells whether a record is about pushes alone.
func (r *record) beside() bool {
	return r.Offset == nil && r.Epoch == nil &&
		len(r.Users)+len(r.Grants)+len(r.Tokens)+len(r.Codes)+len(r.Calendars)+len(r.Events)+len(r.Channels) == 0
}
