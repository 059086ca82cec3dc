import { element, button } from "./element.js";
import { parse } from "./discord_markup.js";
import { inFull, inStyle, stamp } from "./discord_time.js";

// message draws a message with its cards and buttons. context gives names: role(id),
// user(message, id), and open(url), which shows a link inside the page and reports
// whether it did; press(message, customID) does what a button that is no link asks for.
export function message(posted, context) {
  const at = new Date(posted.timestamp);
  const names = { ...context, user: (id) => context.user(posted, id), press: (customID) => context.press(posted, customID) };
  const pings = posted.mention_everyone || posted.mention_roles.length > 0;
  return element("article", { class: pings ? "message ping" : "message", "data-id": posted.id, "data-version": String(posted.edited_timestamp), "aria-label": `Message of ${posted.author.username}` },
    avatar(posted.author),
    element("p", { class: "by" },
      element("strong", {}, posted.author.global_name ?? posted.author.username),
      posted.author.bot ? element("span", { class: "tag" }, "APP") : null,
      element("time", { dateTime: posted.timestamp, title: inFull(at), class: "at" }, stamp(at)),
      posted.edited_timestamp ? element("span", { class: "edited", title: inFull(new Date(posted.edited_timestamp)) }, "(edited)") : null),
    posted.content ? element("p", { class: "content" }, ...markup(posted.content, names)) : null,
    ...posted.embeds.map((embed) => card(embed, names)),
    ...posted.components.map((row) => element("div", { class: "actions" }, ...(row.components ?? []).map((part) => action(part, names)))));
}

function avatar(author) {
  return element("span", { class: "avatar", "aria-hidden": "true" }, author.username.slice(0, 1).toUpperCase());
}

// markup makes elements of a text with Discord's markup.
export function markup(text, names) { return parse(text).map((node) => drawn(node, names)); }

const tags = { bold: "strong", italic: "em", underline: "u", strike: "s" };

function drawn(node, names) {
  switch (node.kind) {
    case "text": return document.createTextNode(node.text);
    case "break": return element("br");
    case "code": return element("code", {}, node.text);
    case "block": return element("pre", {}, node.text);
    case "link": return link(node.url, node.children.map((child) => drawn(child, names)), names);
    case "time": return time(node);
    case "everyone": return mention(node.text);
    case "role": return mention(`@${names.role(node.id)}`);
    case "user": return mention(`@${names.user(node.id)}`);
    case "channel": return mention("#channel");
    default: return element(tags[node.kind], {}, ...node.children.map((child) => drawn(child, names)));
  }
}

function mention(text) { return element("span", { class: "mention" }, text); }

// time is a moment in the reader's own time zone. One in words, such as "in 5 days",
// is marked for retell.
function time({ unix, style }) {
  const at = new Date(unix * 1000);
  if (Number.isNaN(at.getTime())) return mention("Invalid date");
  const mark = style === "R" ? { "data-relative": "yes" } : {};
  return element("time", { class: "moment", dateTime: at.toISOString(), title: inFull(at), ...mark }, inStyle(at, style));
}

// retell rewrites moments in words, which change while nothing else does.
export function retell(list) {
  for (const moment of list.querySelectorAll("[data-relative]")) {
    const text = inStyle(new Date(moment.dateTime), "R");
    if (moment.textContent !== text) moment.textContent = text;
  }
}

// link leads out of the page in another tab, unless the page can show what it leads to.
function link(url, children, names, properties = {}) {
  const made = element("a", { href: url, target: "_blank", rel: "noopener noreferrer", ...properties }, ...children);
  made.addEventListener("click", (event) => { if (names.open(url)) event.preventDefault(); });
  return made;
}

// card is an embed: a coloured bar, a title, and fields, three inline ones in a row.
function card(embed, names) {
  const made = element("div", { class: "embed" },
    embed.title ? element("h4", {}, ...markup(embed.title, names)) : null,
    embed.description ? element("p", {}, ...markup(embed.description, names)) : null,
    embed.fields?.length ? element("dl", {}, ...embed.fields.map((field) => cardField(field, names))) : null,
    embed.footer?.text ? element("p", { class: "edited" }, embed.footer.text) : null);
  if (Number.isInteger(embed.color)) made.style.borderLeftColor = `#${embed.color.toString(16).padStart(6, "0")}`;
  return made;
}

function cardField({ name, value, inline }, names) {
  return element("div", { class: inline ? "inline" : "" },
    element("dt", {}, ...markup(name, names)), element("dd", {}, ...markup(value, names)));
}

const looks = { 1: "primary", 2: "secondary", 3: "success", 4: "danger", 5: "secondary" };
const buttonType = 2;

// action is a button of a message; one with an address is a link.
function action(part, names) {
  if (part.type !== buttonType) return null;
  const look = { class: `action ${looks[part.style] ?? "secondary"}` };
  if (part.url && /^https?:\/\//i.test(part.url)) return link(part.url, [part.label, " ", element("span", { "aria-hidden": "true" }, "↗")], names, look);
  return button(part.label, () => names.press(part.custom_id), { ...look, disabled: Boolean(part.disabled) });
}
