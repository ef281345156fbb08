/** Starts Swagger UI on the service's own OpenAPI document; see snippets.js and streams.js. */

import { exactBody } from "./exact.js";
import { curl, javascript, python } from "./snippets.js";
import { fetchBeginning } from "./streams.js";

const GENERATORS = {
  curl_bash: { title: "curl", syntax: "bash", write: curl },
  python: { title: "Python", syntax: "python", write: python },
  javascript: { title: "JavaScript", syntax: "javascript", write: javascript },
};

const explorer = document.getElementById("explorer");

followColourScheme();
showProblem();
const answer = await fetch("/openapi.json");
if (!answer.ok) {
  explorer.textContent = `The API cannot be shown: /openapi.json answered ${answer.status}. Reload the page to try again.`;
  throw new Error(`/openapi.json answered ${answer.status}`);
}
globalThis.ui = globalThis.SwaggerUIBundle({
  domNode: explorer,
  spec: shortened(await answer.json()),
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
      wrapComponents: { responseBody: exactBody },
      fn: Object.fromEntries(
        Object.entries(GENERATORS).map(([name, { write }]) => [
          `requestSnippetGenerator_${name}`,
          (request) => write(plain(request)),
        ]),
      ),
    },
  ],
  requestInterceptor: (request) => Object.assign(request, { userFetch: fetchBeginning }),
});

/**
 * The document with problems by their names alone. They all have the same form, which "Schemas" shows;
 * to follow their references for each operation takes most of the time that it takes to open one.
 */
function shortened(api) {
  for (const operation of Object.values(api.paths).flatMap(Object.values)) {
    for (const [status, { $ref }] of Object.entries(operation.responses)) {
      if ($ref === undefined) continue;
      const { description } = api.components.responses[$ref.split("/").at(-1)];
      operation.responses[status] = { description };
    }
  }
  return api;
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

/** A problem's link leads to a row below the operations: stay there while these get their height. */
function showProblem() {
  const row = document.getElementById(location.hash.slice(1)); // names of problems need no escapes
  if (row === null) return;
  const watch = new ResizeObserver(() => row.scrollIntoView());
  watch.observe(explorer);
  for (const moved of ["wheel", "pointerdown", "keydown", "touchstart"]) {
    addEventListener(moved, () => watch.disconnect(), { once: true, passive: true });
  }
}
