// Package chromium opens pages in headless Chromium for tests. Each test gets a
// new browser with an empty profile.
//
// Where there is no Chromium, such tests are skipped, and `make test` says so in
// one line; where the variable CI is set, they fail.
package chromium

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Patience is how long a browser may take to show what it is waited for: long, for
// a machine with other work.
const Patience = 2 * time.Minute

// ShotsVariable names the folder for screenshots of the pages; without it none
// are taken.
const ShotsVariable = "QUESTSCHEDULER_TEST_SHOTS"

// names are what Chromium is called.
var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// errAbsent is the error of a machine without Chromium.
var errAbsent = errors.New("there is no Chromium; install the package chromium")

// Find gives the path of Chromium.
func Find() (path string, err error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errAbsent
}

// flags are beside chromedp's own, which start it headless, with a new profile,
// and without a first run, synchronisation or talk of its own in the background.
var flags = []chromedp.ExecAllocatorOption{
	chromedp.NoSandbox, // tests run in containers, as root too
	chromedp.DisableGPU,
	chromedp.Flag("disable-quic", true),
	chromedp.Flag("disable-component-update", true),
	chromedp.Flag("disable-domain-reliability", true),
	chromedp.Flag("hide-scrollbars", false),
}

// Browser is a Chromium with one page.
type Browser struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	problems []string
	hosts    []string
}

// Open starts a browser that ends with the test. It is skipped where there is no
// Chromium; with CI set it fails.
func Open(t testing.TB) *Browser {
	t.Helper()
	path, err := Find()
	switch {
	case err != nil && os.Getenv("CI") == "":
		t.Skip("skipped: " + err.Error())
	case err != nil:
		t.Fatal(err)
	}
	options := slices.Concat(chromedp.DefaultExecAllocatorOptions[:], flags, []chromedp.ExecAllocatorOption{chromedp.ExecPath(path)})
	ctx, end := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	t.Cleanup(end)
	ctx, closePage := chromedp.NewContext(ctx)
	t.Cleanup(closePage)
	b := &Browser{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatalf("start Chromium: %v", err)
	}
	b.Do("listen", command(log.Enable, cdp.Empty{}), command(network.Enable, network.EnableParams{}))
	return b
}

// command is a call of the protocol as an action.
func command[P, R any](call cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, call, params)
		return err
	})
}

// listen keeps what the page complains about and whom it asks.
func (b *Browser) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			b.problems = append(b.problems, e.Entry.Text+" "+e.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		b.problems = append(b.problems, text)
	case *runtime.EventConsoleAPICalled:
		if kind := fmt.Sprint(e.Type); kind == "error" || kind == "warning" || kind == "assert" {
			said := []string{"console." + kind}
			for _, argument := range e.Args {
				said = append(said, cmp.Or(argument.Description, string(argument.Value)))
			}
			b.problems = append(b.problems, strings.Join(said, " "))
		}
	case *network.EventLoadingFailed:
		if !e.Canceled { // as by leaving the page
			b.problems = append(b.problems, "not loaded: "+e.ErrorText)
		}
	case *network.EventRequestWillBeSent:
		if at, err := url.Parse(e.Request.URL); err == nil && at.Host != "" && !slices.Contains(b.hosts, at.Host) {
			b.hosts = append(b.hosts, at.Host)
		}
	}
}

// Problems are errors and warnings of the console so far.
func (b *Browser) Problems() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.problems)
}

// Hosts are those that were asked for anything so far.
func (b *Browser) Hosts() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.hosts)
}

// Do does something in the page, and fails the test where that does not come to
// its end within Patience.
func (b *Browser) Do(what string, steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, Patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
}

// Go opens an address.
func (b *Browser) Go(address string) {
	b.t.Helper()
	b.Do("open "+address, chromedp.Navigate(address))
}

// holds reports whether a JavaScript expression is true in the page. It also fails
// while the browser leaves the page.
func (b *Browser) holds(expression string) (bool, error) {
	ctx, cancel := context.WithTimeout(b.ctx, Patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
}

// Want fails where an expression is not true in the page now.
func (b *Browser) Want(expression string) {
	b.t.Helper()
	if holds, err := b.holds(expression); !holds || err != nil {
		b.t.Errorf("it does not hold that %s (%v)", expression, err)
	}
}

// Text is what an expression gives as a text.
func (b *Browser) Text(expression string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, Patience)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string]("String("+expression+")"))
	if err != nil {
		b.t.Fatal(err)
	}
	return text
}

// Await waits until an expression is true in the page, also in one that comes in
// its place.
func (b *Browser) Await(expression string) {
	b.t.Helper()
	b.await(expression, func() (bool, error) { return b.holds(expression) })
}

// AwaitProblem waits until the console complains in these words.
func (b *Browser) AwaitProblem(words string) {
	b.t.Helper()
	b.await("the console says "+words, func() (bool, error) { return strings.Contains(strings.Join(b.Problems(), "\n"), words), nil })
}

func (b *Browser) await(what string, check func() (bool, error)) {
	b.t.Helper()
	deadline := time.NewTimer(Patience)
	defer deadline.Stop()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		holds, err := check()
		if holds && err == nil {
			return
		}
		select {
		case <-deadline.C:
			b.t.Fatalf("it does not come to hold that %s (%v)", what, err)
		case <-again.C:
		}
	}
}

// Type presses keys, one after the other, as kb names them.
func (b *Browser) Type(keys string) {
	b.t.Helper()
	b.Do("press keys", chromedp.KeyEvent(keys))
}

// TabTo presses Tab until the element of an id has the focus, and fails where it
// is not reached by that.
func (b *Browser) TabTo(id string) {
	b.t.Helper()
	b.TabUntil(`document.activeElement && document.activeElement.id === "` + id + `"`)
}

// TabUntil presses Tab until an expression is true in the page, and fails where that
// does not come about.
func (b *Browser) TabUntil(expression string) {
	b.t.Helper()
	for range 300 {
		b.Type(kb.Tab)
		holds, err := b.holds(expression)
		if err != nil {
			b.t.Fatal(err)
		}
		if holds {
			return
		}
	}
	b.t.Fatalf("Tab does not lead to where %s", expression)
}

// Size gives the page the size of another screen, that of a phone among them.
func (b *Browser) Size(width, height int64, phone bool) {
	b.t.Helper()
	if phone {
		b.Do("size", chromedp.EmulateViewport(width, height, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulatePortrait))
		return
	}
	b.Do("size", chromedp.EmulateViewport(width, height))
}

// Dark says whether the person prefers dark colours.
func (b *Browser) Dark(dark bool) {
	b.t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	b.Do("colours", command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	}))
}

// Scripts says whether pages run scripts.
func (b *Browser) Scripts(run bool) {
	b.t.Helper()
	b.Do("scripts", command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !run}))
}

// Shoot takes a picture of the whole page where ShotsVariable asks for it.
func (b *Browser) Shoot(name string) {
	b.t.Helper()
	b.shoot(name, chromedp.FullScreenshot(100))
}

// ShootScreen is Shoot for the part of the page that is on the screen.
func (b *Browser) ShootScreen(name string) {
	b.t.Helper()
	b.shoot(name, chromedp.CaptureScreenshot())
}

// ShootBody is like Shoot, without what is left of the window below a short page.
func (b *Browser) ShootBody(name string) {
	b.t.Helper()
	b.shoot(name, func(ctx context.Context, target *chromedp.Target) ([]byte, error) {
		var body page.Viewport
		size, err := chromedp.Evaluate[[]float64](`[document.body.offsetWidth, document.body.offsetHeight]`)(ctx, target)
		if err != nil || len(size) != 2 {
			return nil, fmt.Errorf("size of the body: %v: %w", size, err)
		}
		body.Width, body.Height, body.Scale = size[0], size[1], 1
		picture, err := cdp.Call(ctx, target, page.CaptureScreenshot, page.CaptureScreenshotParams{Clip: &body, CaptureBeyondViewport: new(true)})
		if err != nil {
			return nil, err
		}
		return picture.Data, nil
	})
}

func (b *Browser) shoot(name string, take chromedp.Action[[]byte]) {
	b.t.Helper()
	dir := os.Getenv(ShotsVariable)
	if dir == "" {
		return
	}
	ctx, cancel := context.WithTimeout(b.ctx, Patience)
	defer cancel()
	picture, err := chromedp.Run(ctx, take)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o600)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}
