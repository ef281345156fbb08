/** Responses as they came: JSON.parse would round scores beyond 2^53 and drop zeros behind the point. */

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/gu;

/**
 * JSON, indented, each number and text as it was written.
 *
 * @param {string} json
 */
export function indented(json) {
  let text = "";
  let depth = 0;
  let last = "";
  for (const [token] of json.matchAll(TOKEN)) {
    const isEnd = token === "}" || token === "]";
    const isEmpty = isEnd && (last === "{" || last === "[");
    if (isEnd) depth -= 1;
    if (last !== "" && !isEmpty && (isEnd || last === "," || last === "{" || last === "[")) {
      text += `\n${"  ".repeat(depth)}`;
    }
    if (token === "{" || token === "[") depth += 1;
    text += token === ":" ? ": " : token;
    last = token;
  }
  return text;
}

/**
 * Swagger UI's response body, which shows JSON with `indented`.
 *
 * @param {any} Original
 * @param {any} system
 */
export function exactBody(Original, system) {
  const { createElement } = system.React;
  return (/** @type {any} */ props) => {
    const { content, contentType } = props;
    if (typeof content !== "string" || !/json/iu.test(contentType ?? "")) return createElement(Original, props);
    const Code = system.getComponent("HighlightCode", true);
    const options = { language: "json", downloadable: true, fileName: "response.json", canCopy: true };
    return createElement("div", null, createElement("h5", null, "Response body"), createElement(Code, options, indented(content)));
  };
}
