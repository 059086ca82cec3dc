package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// World is what a demo keeps beside the data of its parts, so that a restart
// with the same folder continues it.
type World struct {
	Seeded      bool          `json:"seeded"` // false: seeding was interrupted, and starts over
	GoogleAddr  string        `json:"google_addr"`
	DiscordAddr string        `json:"discord_addr"`
	ClockOffset time.Duration `json:"clock_offset"`
	Party
}

// Party is who is in the demo and what was seeded.
type Party struct {
	DiscordToken   string            `json:"discord_token"`
	AdminToken     string            `json:"admin_token"`
	DiscordChannel string            `json:"discord_channel_id"`
	GroupID        string            `json:"group_id"`
	Users          map[string]User   `json:"users"`
	Spares         []Account         `json:"spare_accounts"`
	Polls          map[string]string `json:"polls"`
	// Attendees are second addresses of people outside the party.
	Attendees *Sheet `json:"attendees,omitempty"`
}

// User is a member of the party.
type User struct {
	ID    string `json:"id"`
	Token string `json:"token"`
	// DiscordUserID is the user of Discord who is linked to the person.
	DiscordUserID string `json:"discord_user_id"`
	// AccountID is the linked account of the calendar below.
	AccountID string `json:"account_id,omitempty"`
	Account
	// Second is a second linked account, which the game master alone has.
	Second *Linked `json:"second,omitempty"`
}

// Linked is a linked Google account.
type Linked struct {
	AccountID string `json:"account_id"`
	Account
}

// Account is a Google account. GoogleToken opens its calendar as its owner does.
type Account struct {
	Email       string `json:"email"`
	GoogleToken string `json:"google_token"`
	CalendarID  string `json:"calendar_id"`
}

// Files and folders of a demo's data.
const (
	worldFile     = "demo.json"
	StoreFile     = "questscheduler.db"
	KeysFile      = "keys"
	googleFolder  = "google"
	discordFolder = "discord"
)

// OpenWorld reads the world of a demo's folder. A folder without one must be
// empty; what an interrupted seeding left is removed.
func OpenWorld(dir string) (World, error) {
	fresh := World{Party: Party{Users: map[string]User{}, Polls: map[string]string{}}}
	content, err := os.ReadFile(filepath.Join(dir, worldFile))
	if errors.Is(err, fs.ErrNotExist) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return World{}, err
		}
		if len(entries) > 0 {
			return World{}, Misuse{fmt.Errorf("%s holds something else than a demo; name an empty folder with --data", dir)}
		}
		return fresh, fresh.save(dir)
	}
	if err != nil {
		return World{}, err
	}
	var world World
	if err := json.Unmarshal(content, &world); err != nil {
		return World{}, Misuse{
			fmt.Errorf("%s is not the file of a demo; name another folder with --data: %w", filepath.Join(dir, worldFile), err),
		}
	}
	if world.Seeded {
		return world, nil
	}
	for _, name := range []string{StoreFile, StoreFile + "-wal", StoreFile + "-shm", googleFolder, discordFolder} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return World{}, err
		}
	}
	return fresh, nil
}

// save writes the world whole or not at all.
func (w World) save(dir string) error {
	content, err := json.MarshalIndent(w, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, worldFile)
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
