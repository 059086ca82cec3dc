package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// demoWorld is what a demo keeps beside the data of its parts, so that a restart
// with the same folder continues it.
type demoWorld struct {
	Seeded      bool          `json:"seeded"` // false: seeding was interrupted, and starts over
	GoogleAddr  string        `json:"google_addr"`
	DiscordAddr string        `json:"discord_addr"`
	ClockOffset time.Duration `json:"clock_offset"`
	demoParty
}

// demoParty is who is in the demo and what was seeded.
type demoParty struct {
	DiscordToken   string              `json:"discord_token"`
	AdminToken     string              `json:"admin_token"`
	DiscordChannel string              `json:"discord_channel_id"`
	GroupID        string              `json:"group_id"`
	Users          map[string]demoUser `json:"users"`
	Spares         []demoAccount       `json:"spare_accounts"`
	Polls          map[string]string   `json:"polls"`
	// Attendees are second addresses of people outside the party.
	Attendees *demoSheet `json:"attendees,omitempty"`
}

// demoUser is a member of the party.
type demoUser struct {
	ID    string `json:"id"`
	Token string `json:"token"`
	// DiscordUserID is the user of Discord who is linked to the person.
	DiscordUserID string `json:"discord_user_id"`
	// AccountID is the linked account of the calendar below.
	AccountID string `json:"account_id,omitempty"`
	demoAccount
	// Second is a second linked account, which the game master alone has.
	Second *demoLinked `json:"second,omitempty"`
}

// demoLinked is a linked Google account.
type demoLinked struct {
	AccountID string `json:"account_id"`
	demoAccount
}

// demoAccount is a Google account. GoogleToken opens its calendar as its owner does.
type demoAccount struct {
	Email       string `json:"email"`
	GoogleToken string `json:"google_token"`
	CalendarID  string `json:"calendar_id"`
}

// Files and folders of a demo's data.
const (
	demoFile    = "demo.json"
	demoStore   = "questscheduler.db"
	demoKeys    = "keys"
	demoGoogle  = "google"
	demoDiscord = "discord"
)

// openDemoWorld reads the world of a demo's folder. A folder without one must be
// empty; what an interrupted seeding left is removed.
func openDemoWorld(dir string) (demoWorld, error) {
	fresh := demoWorld{demoParty: demoParty{Users: map[string]demoUser{}, Polls: map[string]string{}}}
	content, err := os.ReadFile(filepath.Join(dir, demoFile))
	if errors.Is(err, fs.ErrNotExist) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return demoWorld{}, err
		}
		if len(entries) > 0 {
			return demoWorld{}, demoMisuse{fmt.Errorf("%s holds something else than a demo; name an empty folder with --data", dir)}
		}
		return fresh, fresh.save(dir)
	}
	if err != nil {
		return demoWorld{}, err
	}
	var world demoWorld
	if err := json.Unmarshal(content, &world); err != nil {
		return demoWorld{}, demoMisuse{
			fmt.Errorf("%s is not the file of a demo; name another folder with --data: %w", filepath.Join(dir, demoFile), err),
		}
	}
	if world.Seeded {
		return world, nil
	}
	for _, name := range []string{demoStore, demoStore + "-wal", demoStore + "-shm", demoGoogle, demoDiscord} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return demoWorld{}, err
		}
	}
	return fresh, nil
}

// save writes the world whole or not at all.
func (w demoWorld) save(dir string) error {
	content, err := json.MarshalIndent(w, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, demoFile)
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
