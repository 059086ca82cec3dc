// element makes an element with properties and children. Texts become text nodes, so
// nothing that people write is read as HTML. Properties with a dash, and role, are
// attributes; class is className.
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (name === "class") made.className = value;
    else if (name.includes("-") || name === "role") made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// button is a button with what it does.
export function button(text, act, properties = {}) {
  const made = element("button", { type: "button", ...properties }, text);
  made.addEventListener("click", act);
  return made;
}

// field is an input with its name above it.
export function field(text, input) {
  return element("label", { htmlFor: input.id, class: "field" }, element("span", {}, text), input);
}

// mark shows for a second that an element's content changed.
export function mark(node) {
  node.classList.remove("changed");
  void node.offsetWidth; // so that the animation starts again
  node.classList.add("changed");
}

// replaceMarked is replace that marks what changed. what names the thing that is shown:
// showing another one is no change.
export function replaceMarked(parent, what, ...children) {
  const changed = replace(parent, ...children);
  if (changed && parent.dataset.what === what) mark(parent);
  parent.dataset.what = what;
}

// replace shows new children in place of the old ones if they differ, and keeps the
// focus on the element of the same id. Equal content is left alone, so screen readers
// and selections are not disturbed by a refresh. It reports whether they differed.
export function replace(parent, ...children) {
  const next = element(parent.tagName, {}, ...children);
  if (next.innerHTML === parent.innerHTML) return false;
  const focused = parent.contains(document.activeElement) ? document.activeElement.id : "";
  parent.replaceChildren(...next.childNodes);
  if (focused) document.getElementById(focused)?.focus();
  return true;
}
