package google

import (
	"errors"
	"net/http"
	"time"

	"questscheduler/demo/sim/control"
)

// ChannelRules say how watch channels are treated. What is zero is as Options
// have it. They are forgotten at a restart.
type ChannelRules struct {
	// LongestGrant is the longest that a channel is granted for, whatever is
	// asked. Channels that are open keep their end.
	LongestGrant time.Duration
	// StopGrace is how long a stopped channel still receives pushes.
	StopGrace time.Duration
	// HoldUntilStopped holds the pushes of a channel until it is stopped, and
	// delivers them then. Turning it off delivers held pushes at once. A channel
	// that expires before receives nothing.
	HoldUntilStopped bool
}

// SetChannelRules puts other rules in the place of those there are.
func (s *Server) SetChannelRules(rules ChannelRules) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.channelRules = rules
	s.outbox.wake()
}

// longestGrant is what a channel is granted for at most. The caller holds the
// lock.
func (s *Server) longestGrant() time.Duration {
	if longest := s.channelRules.LongestGrant; longest > 0 {
		return min(longest, s.opt.MaxChannelTTL)
	}
	return s.opt.MaxChannelTTL
}

// stopGrace is how long a stopped channel receives pushes. The caller holds the
// lock.
func (s *Server) stopGrace() time.Duration {
	if grace := s.channelRules.StopGrace; grace > 0 {
		return grace
	}
	return s.opt.StopGrace
}

// held reports whether a push waits until its channel is stopped. The caller holds
// the lock.
func (s *Server) held(p *push) bool {
	return s.channelRules.HoldUntilStopped && s.world.channels[p.Channel].liveAt(s.clock.Now())
}

// simChannels is POST /_sim/channels {"longest_grant": "1h", "stop_grace": "30s",
// "hold_until_stopped": true}: the longest grant of a channel, how long a stopped
// channel receives pushes, and whether pushes wait until their channel is stopped. A
// field that is absent or "off" has its value of the start.
func (s *Server) simChannels(w http.ResponseWriter, r *http.Request) {
	var body struct {
		LongestGrant     string `json:"longest_grant"`
		StopGrace        string `json:"stop_grace"`
		HoldUntilStopped bool   `json:"hold_until_stopped"`
	}
	if !control.Decode(w, r, &body) {
		return
	}
	longest, longestErr := durationOrOff("longest_grant", body.LongestGrant)
	grace, graceErr := durationOrOff("stop_grace", body.StopGrace)
	if err := errors.Join(longestErr, graceErr); err != nil {
		control.Refuse(w, http.StatusBadRequest, err)
		return
	}
	s.SetChannelRules(ChannelRules{longest, grace, body.HoldUntilStopped})
	control.Answer(w, http.StatusOK, body)
}

// durationOrOff reads a duration; 0 for "off" and for nothing.
func durationOrOff(name, text string) (time.Duration, error) {
	if text == "" || text == "off" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, errors.New(name + `: write a duration such as 1h or 5m, or "off"`)
	}
	return d, nil
}
