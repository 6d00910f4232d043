/** A status from 400 on, with the server's own text as its message. */
export class ApiError extends Error {
  constructor(status, body) {
    super(textOf(body) || `The server answered ${status}.`);
    this.name = "ApiError";
    this.status = status;
    this.body = body;
  }
}

/**
 * Calls the API with the session cookie. A call is named "METHOD /path/:name" and given { params, query, body, headers,
 * signal }: the client of kernel/http/client.ts, for a page that nothing has built.
 */
export const client = {
  /** Resolves to the answer's body; rejects with ApiError for a status from 400 on. */
  async call(key, given) {
    const answer = await client.open(key, given);
    const text = await answer.text();
    const body = parse(text);
    if (!answer.ok) {
      throw new ApiError(answer.status, body);
    }
    return body;
  },

  /** Resolves to the raw response, whatever its status: streams and files. */
  open(key, { params = {}, query = {}, body, headers = {}, signal } = {}) {
    const [method, path] = key.split(" ", 2);
    const isJson = body !== undefined && !(body instanceof FormData);
    const filled = path.replaceAll(/:(\w+)/g, (_match, name) => encodeURIComponent(params[name]));
    const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
    return fetch(pairs.length === 0 ? filled : `${filled}?${new URLSearchParams(pairs)}`, {
      method,
      credentials: "same-origin",
      headers: isJson ? { "content-type": "application/json", ...headers } : headers,
      body: isJson ? JSON.stringify(body) : body,
      signal,
    });
  },
};

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text === "" ? null : text;
  }
}

function textOf(body) {
  const detail = body?.detail ?? body?.error?.message ?? body?.error;
  return Array.isArray(detail) ? detail.map(({ loc, msg }) => `${loc.slice(1).join(".")}: ${msg}`).join("; ") : detail;
}
