/**
 * Answers that go on for ever, cut off after the first event: a page that waits for their end would
 * wait for ever.
 */

const SECONDS_MAX = 10;

/**
 * `fetch`, but of a stream of events only the beginning.
 * @param {string} url
 * @param {RequestInit} options
 */
export async function fetchBeginning(url, options) {
  const response = await fetch(url, options);
  const type = response.headers.get("content-type") ?? "";
  if (!type.startsWith("text/event-stream") || response.body === null) return response;
  const text = await beginning(response.body.getReader());
  return new Response(text, {
    status: response.status,
    statusText: response.statusText,
    headers: response.headers,
  });
}

/** @param {ReadableStreamDefaultReader<Uint8Array>} reader */
async function beginning(reader) {
  const decoder = new TextDecoder();
  const timer = setTimeout(() => reader.cancel(), SECONDS_MAX * 1000);
  let text = "";
  try {
    while (!/^data: .*\n\n/m.test(text)) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    clearTimeout(timer);
    await reader.cancel();
  }
  return text;
}
