package docs_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"questscheduler/internal/config"
	"questscheduler/internal/test/docs"
)

// pages are the texts that people read, by their paths below the top folder.
func pages(t *testing.T) map[string]string {
	t.Helper()
	root := docs.Root(t)
	texts := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			name, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			name = filepath.ToSlash(name)
			texts[name] = docs.Read(t, name)
		}
	}
	return texts
}

var (
	markdownAnchor = regexp.MustCompile(`\]\(([^)#\s:]*)#([^)]+)\)`)
	markdownLink   = regexp.MustCompile(`\]\(([^)#\s]+)(?:#[^)]*)?\)`)
	// codePath is a file or folder of the module in a code span: it has a slash.
	codePath = regexp.MustCompile("`([a-z.][\\w.-]*(?:/[\\w.-]+)*/(?:[\\w.-]+\\.(?:go|md|yaml|json|html))?)`")
)

func TestPages_NameOnlyFilesThatExist(t *testing.T) {
	t.Parallel()
	root := os.DirFS(docs.Root(t))
	exists := func(name string) bool {
		_, err := fs.Stat(root, path.Clean(name))
		return err == nil
	}
	for page, text := range pages(t) {
		for _, link := range markdownLink.FindAllStringSubmatch(text, -1) {
			if target := path.Join(path.Dir(page), link[1]); !strings.Contains(link[1], "://") && !exists(target) {
				t.Errorf("%s links to %s, which is not there", page, link[1])
			}
		}
		for _, span := range codePath.FindAllStringSubmatch(text, -1) {
			if !exists(span[1]) && !exists(path.Join(path.Dir(page), span[1])) {
				t.Errorf("%s names %s, which is not there", page, span[1])
			}
		}
	}
}

var (
	makeCall   = regexp.MustCompile(`(?m)(?:^\s+|` + "`" + `)make ([a-z]+(?:-[a-z]+)*)`)
	makeTarget = regexp.MustCompile(`(?m)^([a-z-]+):`)
)

func TestPages_NameOnlyTargetsThatExist(t *testing.T) {
	t.Parallel()
	var targets []string
	for _, target := range makeTarget.FindAllStringSubmatch(docs.Read(t, "Makefile"), -1) {
		targets = append(targets, target[1])
	}
	for page, text := range pages(t) {
		for _, call := range makeCall.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(targets, call[1]) {
				t.Errorf("%s tells to run make %s, which the Makefile does not have", page, call[1])
			}
		}
	}
}

func TestEveryTarget_IsDocumented(t *testing.T) {
	t.Parallel()
	text := docs.Read(t, "docs/development.md")
	for _, target := range makeTarget.FindAllStringSubmatch(docs.Read(t, "Makefile"), -1) {
		if !strings.Contains(text, "`make "+target[1]) {
			t.Errorf("docs/development.md does not tell of make %s", target[1])
		}
	}
}

var settingName = regexp.MustCompile(`\bQS_[A-Z][A-Z0-9_]*`)

func TestPages_NameOnlySettingsThatExist(t *testing.T) {
	t.Parallel()
	var settings []string
	for _, field := range config.Fields() {
		settings = append(settings, config.Prefix+field.Tag.Get("env"))
	}
	for page, text := range pages(t) {
		for _, name := range settingName.FindAllString(text, -1) {
			if !slices.Contains(settings, strings.TrimSuffix(name, "_FILE")) && name != "QS_X" && name != "QS_X_FILE" {
				t.Errorf("%s names the setting %s, which is none", page, name)
			}
		}
	}
}

// TestPages_LinkOnlyToHeadingsThatExist: an anchor is a heading in lower case with
// hyphens, without other signs.
func TestPages_LinkOnlyToHeadingsThatExist(t *testing.T) {
	t.Parallel()
	all := pages(t)
	sign := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for page, text := range all {
		for _, link := range markdownAnchor.FindAllStringSubmatch(text, -1) {
			target := page
			if link[1] != "" {
				target = path.Join(path.Dir(page), link[1])
			}
			found := false
			for line := range strings.Lines(all[target]) {
				if heading := strings.TrimLeft(line, "#"); heading != line {
					anchor := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(sign.ReplaceAllString(heading, ""))), " ", "-")
					found = found || anchor == link[2]
				}
			}
			if !found {
				t.Errorf("%s links to %s#%s, which is no heading", page, link[1], link[2])
			}
		}
	}
}
