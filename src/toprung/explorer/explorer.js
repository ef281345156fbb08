/** Starts Swagger UI on the service's own OpenAPI document; see snippets.js and streams.js. */

import { curl, javascript, python } from "./snippets.js";
import { fetchBeginning } from "./streams.js";

const GENERATORS = {
  curl_bash: { title: "curl", syntax: "bash", write: curl },
  python: { title: "Python", syntax: "python", write: python },
  javascript: { title: "JavaScript", syntax: "javascript", write: javascript },
};

followColourScheme();
globalThis.SwaggerUIBundle({
  domNode: document.getElementById("explorer"),
  url: "/openapi.json",
  validatorUrl: null, // asks nobody else
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  persistAuthorization: false, // the key is forgotten with the page
  requestSnippetsEnabled: true,
  requestSnippets: {
    generators: Object.fromEntries(
      Object.entries(GENERATORS).map(([name, { title, syntax }]) => [name, { title, syntax }]),
    ),
    defaultExpanded: true,
    languages: Object.keys(GENERATORS),
  },
  plugins: [
    {
      fn: Object.fromEntries(
        Object.entries(GENERATORS).map(([name, { write }]) => [
          `requestSnippetGenerator_${name}`,
          (request) => write(plain(request)),
        ]),
      ),
      wrapComponents: { response: shortProblem },
    },
  ],
  requestInterceptor: (request) => Object.assign(request, { userFetch: fetchBeginning }),
  onComplete: showProblem,
});

/** Every problem has the same form, which "Schemas" shows: in an operation its names are enough. */
function shortProblem(Response, { React }) {
  return (props) => {
    const response = props.code < "400" ? props.response : props.response.delete("content");
    return React.createElement(Response, { ...props, response });
  };
}

/** Swagger UI's request, which is an immutable map, as snippets.js takes it. */
function plain(request) {
  const body = request.get("body");
  return {
    method: request.get("method"),
    url: new URL(request.get("url"), location.href).href,
    headers: [...(request.get("headers")?.entries() ?? [])].map(([name, value]) => [name, `${value}`]),
    body: body == null ? null : typeof body === "string" ? body : JSON.stringify(body),
  };
}

/** Swagger UI has a dark style and leaves it to the page when to use it. */
function followColourScheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
  dark.addEventListener("change", apply);
  apply();
}

/** A problem's link leads to a row below the operations, which have only now got their height. */
function showProblem() {
  const slug = decodeURIComponent(location.hash.slice(1));
  document.getElementById(slug)?.scrollIntoView();
}
