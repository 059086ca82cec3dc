package chromium_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"questscheduler/internal/test/chromium"
)

const dragged = `<!doctype html><link rel="icon" href="data:,"><div style="height:3000px"></div>
<div id="box" style="width:50px;height:50px;position:relative"></div>
<script>
	let from, moves = 0;
	box.onpointerdown = (event) => { from = event; box.setPointerCapture(event.pointerId); };
	box.onpointermove = (event) => { if (from && event.buttons === 1) moves++; };
	box.onpointerup = (event) => { document.title = [event.clientX - from.clientX, event.clientY - from.clientY, moves].join(" "); from = null; };
	box.onclick = () => box.dataset.clicked = "yes";
</script>`

func TestBrowser_Drag_MovesThePressedMouse(t *testing.T) {
	t.Parallel()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if _, err := w.Write([]byte(dragged)); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(page.Close)
	b := chromium.Open(t)
	b.Go(page.URL)
	b.Drag(`box`, 120, -40)
	b.Await(`document.title.startsWith("120 -40 ") && Number(document.title.split(" ")[2]) > 1`)
	b.Want(`scrollY > 0`)
	b.Click(`box`)
	b.Await(`document.title.startsWith("0 0 ") && box.dataset.clicked === "yes"`)
}
