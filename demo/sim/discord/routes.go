package discord

import (
	"encoding/json"
	"errors"
	"net/http"
)

// route is one call of the API. name is what faults match and counts show.
type route struct {
	verb, path, name string
	handle           func(*Server, *http.Request) (any, error)
}

var table = []route{
	{http.MethodPost, "channels/{channel}/messages", "messages.create", (*Server).createMessage},
	{http.MethodGet, "channels/{channel}/messages", "messages.list", (*Server).listMessages},
	{http.MethodGet, "channels/{channel}/messages/{message}", "messages.get", (*Server).getMessage},
	{http.MethodPatch, "channels/{channel}/messages/{message}", "messages.edit", (*Server).editMessage},
	{http.MethodDelete, "channels/{channel}/messages/{message}", "messages.delete", (*Server).deleteMessage},
	{http.MethodGet, "channels/{channel}", "channels.get", (*Server).getChannel},
	{http.MethodGet, "guilds/{guild}", "guilds.get", (*Server).getGuild},
	{http.MethodGet, "users/@me", "users.get", (*Server).getMe},
}

func methods() []string {
	var names []string
	for _, r := range table {
		names = append(names, r.name)
	}
	return names
}

func (s *Server) routes() {
	known := map[string]bool{}
	for _, r := range table {
		for _, version := range []string{"/api/v9/", "/api/v10/"} {
			path := version + r.path
			s.mux.HandleFunc(r.verb+" "+path, s.control.Wrap(r.name, s.refuse(r.name), s.serve(r)))
			if !known[path] {
				known[path] = true
				s.mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
					writeProblem(w, bare(http.StatusMethodNotAllowed))
				})
			}
		}
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		writeProblem(w, bare(http.StatusNotFound))
	})
	s.control.Register(s.mux)
	s.mux.HandleFunc("GET /_sim/channels/{channel}/messages", s.simMessages)
	s.mux.HandleFunc("POST /_sim/channels/{channel}/messages", s.simSay)
	s.mux.HandleFunc("PUT /_sim/channels/{channel}", s.simChannel)
}

// serve is what every call goes through once its faults are over: token, rate
// limit, the call itself.
func (s *Server) serve(route route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		answer, err := s.call(w, r, route)
		var p *problem
		switch {
		case errors.As(err, &p):
			s.log.Debug("discord simulator: refused", "call", route.name, "status", p.status, "code", p.Code)
			writeProblem(w, p)
		case err != nil:
			s.log.Error("discord simulator: call failed", "call", route.name, "error", err)
			writeProblem(w, bare(http.StatusInternalServerError))
		case answer == nil:
			s.log.Debug("discord simulator: done", "call", route.name)
			w.WriteHeader(http.StatusNoContent)
		default:
			s.log.Debug("discord simulator: done", "call", route.name)
			writeJSON(w, http.StatusOK, answer)
		}
	}
}

func (s *Server) call(w http.ResponseWriter, r *http.Request, route route) (any, error) {
	if !s.authorised(r) {
		return nil, bare(http.StatusUnauthorized)
	}
	s.mu.Lock()
	over := s.limits.take(w.Header(), route.name, r.PathValue("channel"), s.clock.Now())
	s.mu.Unlock()
	if over != nil {
		return nil, over
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	return route.handle(s, r)
}

// writeJSON answers without escaping <, > and &, as Discord does.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	// The status is out; a caller that has gone away loses only the body.
	_ = enc.Encode(v)
}
