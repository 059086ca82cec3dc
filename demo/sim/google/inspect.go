package google

// Changes counts the changes in the simulator so far, except those of pending
// pushes. While it stays equal, so do events, calendars, grants and tokens: a test
// that polls need not read them again.
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
// would show, oldest change first, regardless of access. good is false if the token
// belongs to another listing or has expired, so that only a full listing would help.
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

// beside reports whether a record is about pushes only.
func (r *record) beside() bool {
	return r.Offset == nil && r.Epoch == nil &&
		len(r.Users)+len(r.Grants)+len(r.Tokens)+len(r.Codes)+len(r.Services)+len(r.Calendars)+len(r.Sheets)+len(r.Events)+len(r.Channels) == 0
}
