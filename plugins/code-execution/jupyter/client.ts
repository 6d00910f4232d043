import { AppError } from "#kernel/errors.ts";
import type { Egress, WebSocket } from "#kernel/egress/egress.ts";
import type { JupyterServer } from "../config.ts";

/** One call of the REST interface. */
export interface JupyterCall {
  readonly method?: string;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal | undefined;
}

/** The REST interface and the sockets of one Jupyter server. */
export interface JupyterClient {
  /** The answer's JSON, undefined when there is none. Throws `upstream`, `timeout`, `unavailable` or `not_found`. */
  call(path: string, call?: JupyterCall): Promise<unknown>;
  /** The socket comes paused: nothing is lost before somebody listens. */
  open(path: string, signal?: AbortSignal): Promise<WebSocket>;
}

const timeoutMs = 20_000;
/** Files come as base64 in one answer. */
const maxBytes = 40 * 1024 * 1024;

/** The parts of the outbound client that are used. */
export type JupyterEgress = Pick<Egress, "fetch" | "request" | "webSocket">;

type Credentials = Readonly<Record<string, string>>;

/** Speaks with a Jupyter server whose address an administrator set. */
export function createJupyterClient(egress: JupyterEgress, server: JupyterServer): JupyterClient {
  let signedIn: Promise<Credentials> | undefined;
  const credentials = async (): Promise<Credentials> => {
    if (server.token !== "") {
      return { authorization: `token ${server.token}` };
    }
    if (server.password === "") {
      return {};
    }
    signedIn ??= signIn(egress, server);
    return await signedIn.catch((error: unknown) => {
      signedIn = undefined;
      throw error;
    });
  };
  const send = async (path: string, { method = "GET", body, signal }: JupyterCall) =>
    await egress.fetch(server.url + path, {
      trust: "operator",
      method,
      headers: await credentials(),
      ...(body && { body }),
      signal,
      timeoutMs,
      maxBytes,
      redirects: false,
    });
  return {
    async call(path, call = {}) {
      let response = await send(path, call);
      if (isRefused(response.status) && signedIn !== undefined) {
        // Cookies end; the password may still hold.
        await response.body?.cancel();
        signedIn = undefined;
        response = await send(path, call);
      }
      return await read(response);
    },
    open: async (path, signal) =>
      await egress.webSocket(server.url + path, {
        trust: "operator",
        headers: await credentials(),
        signal,
        timeoutMs,
        maxBytes,
      }),
  };
}

const isRefused = (status: number) => status === 401 || status === 403;

async function read(response: Response): Promise<unknown> {
  const text = await response.text();
  if (isRefused(response.status)) {
    throw new AppError(
      "unavailable",
      "The Jupyter server refuses the platform's sign-in; an administrator has to check its token or password.",
    );
  }
  if (response.status === 404) {
    throw new AppError("not_found", "The Jupyter server does not know that.");
  }
  if (!response.ok) {
    throw new AppError("upstream", `The Jupyter server answered with status ${response.status}.`);
  }
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch (cause) {
    throw new AppError("upstream", "The Jupyter server's answer could not be understood.", { cause });
  }
}

/** The cookies of a session that the password opens; its form is guarded against other sites by a cookie of its own. */
async function signIn(egress: JupyterEgress, { url, password }: JupyterServer): Promise<Credentials> {
  const common = { trust: "operator", timeoutMs, maxBytes } as const;
  const page = await egress.fetch(`${url}/login`, common);
  await page.body?.cancel();
  const jar = readCookies(page);
  const guard = jar.get("_xsrf") ?? "";
  // A right password answers with a redirect, which has the cookies.
  const answer = await egress
    .request(`${url}/login`, {
      trust: "operator",
      method: "POST",
      redirects: false,
      timeoutMs,
      headers: { "content-type": "application/x-www-form-urlencoded", cookie: toHeader(jar) },
      body: new URLSearchParams({ password, _xsrf: guard }).toString(),
    })
    .then(({ status, headers, body }) => {
      body.destroy();
      return { status, cookies: [headers["set-cookie"] ?? []].flat() };
    });
  if (answer.status !== 302) {
    throw new AppError(
      "unavailable",
      "The Jupyter server refuses the password; an administrator has to check it.",
    );
  }
  answer.cookies.forEach((cookie) => keep(jar, cookie));
  return { cookie: toHeader(jar), "x-xsrftoken": guard };
}

function readCookies(response: Response): Map<string, string> {
  const jar = new Map<string, string>();
  response.headers.getSetCookie().forEach((cookie) => keep(jar, cookie));
  return jar;
}

function keep(jar: Map<string, string>, cookie: string): void {
  const [pair = ""] = cookie.split(";", 1);
  const at = pair.indexOf("=");
  jar.set(pair.slice(0, at).trim(), pair.slice(at + 1).trim());
}

const toHeader = (jar: ReadonlyMap<string, string>) =>
  [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
