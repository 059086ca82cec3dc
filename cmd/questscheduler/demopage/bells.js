import { button, element, replace } from "./element.js";

// Bell is one person's notifications, read with that person's own token: what the web
// app shows at its bell.
class Bell {
  constructor(session, name) {
    Object.assign(this, { session, name });
    this.count = element("strong", { class: "count" });
    this.newest = element("span", { class: "newest-notice" });
    this.list = element("ol", { class: "notices" });
    this.mark = button("Mark all as read", () => this.markRead(), { id: `read-${name}` });
    this.node = element("details", { id: `bell-${name}`, name: "bell" },
      element("summary", {}, element("span", { class: "who" }, name), this.count, this.newest),
      this.mark, this.list);
  }

  async refresh() {
    const { notifications } = await this.session.v1("GET", "/notifications?limit=20", undefined, this.name);
    const unread = notifications.filter((notice) => !notice.read).length;
    replace(this.count, unread ? `${unread} unread` : "none unread");
    this.count.dataset.unread = unread ? "yes" : "no";
    replace(this.newest, notifications[0]?.body ?? "Nothing yet.");
    this.mark.disabled = unread === 0;
    const items = notifications.map(notice);
    replace(this.list, ...(items.length ? items : [element("li", { class: "soft" }, "Nothing yet.")]));
  }

  markRead() {
    return this.session.acts(`${this.name} has read everything.`, () => this.session.v1("POST", "/notifications/read-all", undefined, this.name));
  }
}

function notice({ title, body, read, created_at: at }) {
  return element("li", { class: read ? "read" : "" }, element("strong", {}, title),
    element("time", { dateTime: at, class: "soft" }, ` ${timeOf(at)}`), element("p", {}, body));
}

const timeOf = (at) => new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

// mountBells shows the bells of all members of the party, whoever the visitor is. A
// notification that arrives is read out once.
export async function mountBells(body, session) {
  const bells = session.names.map((name) => new Bell(session, name));
  body.append(element("div", { class: "bells", "aria-live": "polite" }, ...bells.map((bell) => bell.node)));
  await session.follow(() => Promise.all(bells.map((bell) => bell.refresh())));
}
