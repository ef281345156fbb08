/**
 * The one place that makes elements. Whatever comes from a player or a server becomes text or an
 * attribute's value here, never markup, and links lead to this site only.
 */

/** @typedef {Node | string | number | null | undefined | false} Child */
/**
 * @typedef {Object<string, any>} Props
 *   `class`, `on` (listeners by event), `vars` (CSS custom properties); the others are attributes,
 *   of which true is an empty one, and null, undefined and false are none.
 */

const SVG = "http://www.w3.org/2000/svg";
const LINKS = new Set(["href", "src", "action", "formaction"]);

/**
 * @param {string} tag
 * @param {Props} [props]
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function el(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

/**
 * @param {string} tag
 * @param {Props} [props]
 * @param {...Child} children
 * @returns {SVGElement}
 */
export function svg(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

/**
 * Text that people wrote: isolated, so that its direction changes nothing around it.
 * @param {string} text
 * @param {Props} [props]
 */
export function name(text, props = {}) {
  return el("bdi", { dir: "auto", title: text, ...props }, text);
}

/**
 * Set an element's text, if it is another one than now.
 * @param {Node} node
 * @param {string} text
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * @template {HTMLElement | SVGElement} T
 * @param {T} node
 * @param {Props} props
 * @param {Child[]} children
 * @returns {T}
 */
function fill(node, props, children) {
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (key === "vars") {
      for (const [variable, text] of Object.entries(value)) node.style.setProperty(variable, text);
    } else {
      setAttribute(node, key, value === true ? "" : String(value));
    }
  }
  const shown = children.filter(isShown);
  node.append(...shown.map((child) => (child instanceof Node ? child : String(child))));
  return node;
}

/** @param {Element} node @param {string} key @param {string} value */
function setAttribute(node, key, value) {
  if (key.startsWith("on")) throw new TypeError(`listeners are not attributes: ${key}`);
  if (LINKS.has(key) && !/^(\/(?![/\\])|#|\?)/.test(value)) throw new TypeError(`not a link of this site: ${value}`);
  node.setAttribute(key, value);
}

/** @param {Child} child */
function isShown(child) {
  return child !== null && child !== undefined && child !== false;
}
