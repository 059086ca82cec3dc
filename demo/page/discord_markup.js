// Reads the part of Discord's message markup that bots and people here write. parse is
// pure: it returns a list of nodes {kind, …}, and discord_draw.js makes elements of them.
//
//   text {text}, break, code {text}, block {text}, link {url, children},
//   bold, italic, underline, strike {children},
//   time {unix, style}, everyone {text}, role {id}, user {id}, channel {id}
//
// What is no markup stays text, as at Discord: an unclosed **, a link that is not http(s).

// Content of a span: escaped characters belong to it, so an escaped delimiter does not end it.
const inside = String.raw`((?:\\[^]|[^\\])+?)`;

const rules = [
  [/\\([!-\/:-@[-`{-~])/y, ([, text]) => ({ kind: "text", text })],
  [/```(?:[a-z0-9+#-]+\n)?\n?([^]+?)\n?```/iy, ([, text]) => ({ kind: "block", text })],
  [/(`+)([^`]|[^`][^]*?[^`])\1(?!`)/y, ([, , text]) => ({ kind: "code", text })],
  span("bold", "*"), span("underline", "_"), span("strike", "~"),
  [/\*(?![\s*])((?:\*\*|\\[^]|[^*\\])+?)\*(?!\*)/y, ([, text]) => ({ kind: "italic", children: parse(text) })],
  [/_(?![\s_])((?:__|\\[^]|[^_\\])+?)_(?![a-z0-9_])/iy, ([, text]) => ({ kind: "italic", children: parse(text) })],
  [/\[((?:\\[^]|[^\\\]])+)\]\((https?:\/\/[^\s<>)]+)\)/iy, ([, text, url]) => ({ kind: "link", url, children: parse(text) })],
  [/<(https?:\/\/[^\s<>]+)>/iy, ([, url]) => ({ kind: "link", url, children: [{ kind: "text", text: url }] })],
  [/https?:\/\/[^\s<>]*[^\s<>.,:;"')\]*~_]/iy, ([url]) => ({ kind: "link", url, children: [{ kind: "text", text: url }] })],
  [/<t:(-?\d{1,13})(?::([tTdDfFR]))?>/y, ([, unix, style]) => ({ kind: "time", unix: Number(unix), style: style ?? "f" })],
  [/<@&(\d{1,20})>/y, ([, id]) => ({ kind: "role", id })],
  [/<@!?(\d{1,20})>/y, ([, id]) => ({ kind: "user", id })],
  [/<#(\d{1,20})>/y, ([, id]) => ({ kind: "channel", id })],
  [/@(?:everyone|here)/y, ([text]) => ({ kind: "everyone", text })],
  [/\n/y, () => ({ kind: "break" })],
];

// span is what stands between two pairs of the same character.
function span(kind, mark) {
  return [new RegExp(`\\${mark}{2}${inside}\\${mark}{2}(?!\\${mark})`, "y"), ([, text]) => ({ kind, children: parse(text) })];
}

export function parse(text) {
  const nodes = [];
  for (let at = 0; at < text.length;) {
    const [node, end] = next(text, at) ?? [{ kind: "text", text: text[at] }, at + 1];
    const last = nodes.at(-1);
    if (node.kind === "text" && last?.kind === "text") last.text += node.text;
    else nodes.push(node);
    at = end;
  }
  return nodes;
}

// next is the markup that begins at a place, with the place where it ends.
function next(text, at) {
  for (const [pattern, node] of rules) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) return [node(found), at + found[0].length];
  }
  return null;
}
