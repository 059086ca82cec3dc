package docs_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"questscheduler/internal/test/docs"
)

// maxPicture is the largest picture in bytes, so that pages open fast and the
// repository stays small.
const maxPicture = 350_000

// pictureName is a picture that a page shows, in Markdown or HTML, from this
// repository.
var pictureName = regexp.MustCompile(`(?:\]\(|src="|srcset=")([^)"\s:]+\.(?:png|svg|gif|jpe?g|webp))`)

// TestEveryPicture_IsShown: `make pictures` takes those that are stored, so none may be
// missing, and none may be left that no page shows.
func TestEveryPicture_IsShown(t *testing.T) {
	t.Parallel()
	root := docs.Root(t)
	var shown []string
	for page, text := range pages(t) {
		for _, match := range pictureName.FindAllStringSubmatch(text, -1) {
			name := path.Join(path.Dir(page), match[1])
			shown = append(shown, name)
			if info, err := os.Stat(filepath.Join(root, name)); err != nil {
				t.Errorf("%s shows %s: %v", page, match[1], err)
			} else if info.Size() == 0 || info.Size() > maxPicture {
				t.Errorf("%s has %d bytes; it may have 1 to %d", name, info.Size(), maxPicture)
			}
		}
	}
	files, err := os.ReadDir(filepath.Join(root, "docs", "pictures"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no pictures (%v)", err)
	}
	for _, file := range files {
		if name := path.Join("docs", "pictures", file.Name()); !slices.Contains(shown, name) {
			t.Errorf("no page shows %s", name)
		}
	}
}
