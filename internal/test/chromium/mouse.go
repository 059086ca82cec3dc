package chromium

import (
	"context"
	"encoding/json"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// point is a place of the window in CSS pixels.
type point struct{ X, Y float64 }

// strokes is in how many moves the mouse is dragged: widgets begin to drag after the
// first ones.
const strokes = 8

// Click scrolls the element that an expression gives into view and clicks its centre
// with the mouse.
func (b *Browser) Click(expression string) {
	b.t.Helper()
	b.Drag(expression, 0, 0)
}

// Drag presses the mouse on the centre of the element that an expression gives, moves
// it by so many pixels and releases it. The element must be there.
func (b *Browser) Drag(expression string, right, down float64) {
	b.t.Helper()
	at := b.centre(expression)
	steps := []chromedp.Action[chromedp.Void]{
		mouse(input.DispatchMouseEventTypeMouseMoved, at, false), mouse(input.DispatchMouseEventTypeMousePressed, at, true),
	}
	if right != 0 || down != 0 {
		from := at
		for i := range strokes {
			part := float64(i+1) / strokes
			at = point{from.X + right*part, from.Y + down*part}
			steps = append(steps, mouse(input.DispatchMouseEventTypeMouseMoved, at, true), drawn)
		}
	}
	b.Do("use the mouse on "+expression, append(steps, mouse(input.DispatchMouseEventTypeMouseReleased, at, true))...)
}

// drawn waits until the page has drawn what the last event changed.
func drawn(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
	const frame = `new Promise((resume) => requestAnimationFrame(() => resume(true)))`
	_, err := chromedp.Evaluate[bool](frame, chromedp.EvalAwaitPromise)(ctx, target)
	return chromedp.Void{}, err
}

func mouse(kind input.DispatchMouseEventType, at point, pressed bool) chromedp.Action[chromedp.Void] {
	return chromedp.MouseEvent(kind, at.X, at.Y, func(params *input.DispatchMouseEventParams) {
		params.ClickCount = 1
		if pressed {
			params.Button, params.Buttons = input.MouseButtonLeft, 1
		}
	})
}

// centre scrolls an element into view and returns where its centre is then.
func (b *Browser) centre(expression string) point {
	b.t.Helper()
	text := b.Text(`((node) => {
		node.scrollIntoView({ block: "center", behavior: "instant" });
		const box = node.getBoundingClientRect();
		return JSON.stringify({ X: box.x + box.width / 2, Y: box.y + box.height / 2 });
	})(` + expression + `)`)
	var at point
	if err := json.Unmarshal([]byte(text), &at); err != nil {
		b.t.Fatalf("where %s is: %v", expression, err)
	}
	return at
}
