import { mkdtemp, realpath, rm } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { runCommand } from "./commands.ts";
import { type Answer, createFiles, Refusal } from "./files.ts";
import { document } from "./openapi.ts";
import { createShells } from "./shells.ts";

/** A request as it reached the server. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

export interface TerminalServer {
  readonly url: string;
  readonly key: string;
  /** The folder in which its shells start. */
  readonly home: string;
  readonly seen: Seen[];
  /** Shells that run now. */
  shells(): number;
  /** While on, requests are taken and never answered. */
  hang(on: boolean): void;
  close(): Promise<void>;
}

/**
 * A terminal server with real shells on pseudo terminals and a real folder: the API of the published one, in this
 * process, so that tests see what reaches it. Loopback only.
 */
export async function startTerminalServer(key = "terminal-key-0001"): Promise<TerminalServer> {
  const home = await realpath(await mkdtemp(join(tmpdir(), "terminal-")));
  const seen: Seen[] = [];
  const state = { hangs: false };
  const shells = createShells({ key, home });
  const places = new Map<string, string>();
  const files = createFiles(home, places);
  const server = createServer((request, response) => {
    seen.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers });
    if (state.hangs) {
      return;
    }
    serve(request, { key, home, shells, files, places }).then(
      (answer) => write(response, answer),
      (error: unknown) => {
        const status = error instanceof Refusal ? error.status : 500;
        write(response, { status, json: { detail: String((error as Error).message) } });
      },
    );
  });
  server.on("upgrade", (request, socket, head) => {
    seen.push({ method: "UPGRADE", url: request.url ?? "", headers: request.headers });
    shells.attach(request, socket, head);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    key,
    home,
    seen,
    shells: () => shells.count(),
    hang: (on) => void (state.hangs = on),
    async close() {
      shells.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(home, { recursive: true, force: true });
    },
  };
}

interface Parts {
  readonly key: string;
  readonly home: string;
  readonly shells: ReturnType<typeof createShells>;
  readonly files: ReturnType<typeof createFiles>;
  readonly places: ReadonlyMap<string, string>;
}

async function serve(request: IncomingMessage, { key, home, shells, files, places }: Parts): Promise<Answer> {
  const { pathname, searchParams: query } = new URL(request.url ?? "/", "http://terminal");
  if (pathname === "/openapi.json") {
    return { json: document };
  }
  if (request.headers.authorization !== `Bearer ${key}`) {
    throw new Refusal(401, "Invalid API key");
  }
  if (pathname === "/system") {
    return { json: { prompt: "You have a computer of your own." } };
  }
  const session = String(request.headers["x-session-id"] ?? "");
  if (pathname === "/execute" && request.method === "POST") {
    const place = places.get(session) ?? home;
    return { json: await runCommand((await readJson(request)) as { command: string }, place) };
  }
  if (pathname === "/redirect") {
    return { status: 302, headers: { location: "http://127.0.0.1:1/" } };
  }
  if (pathname === "/cookie") {
    return {
      headers: { "set-cookie": "token=stolen", "content-type": "text/html" },
      bytes: Buffer.from("<b>hi</b>"),
    };
  }
  if (pathname.startsWith("/api/terminals")) {
    return shells.serve(request, pathname);
  }
  if (pathname.startsWith("/files/")) {
    const body = request.method === "POST" ? await buffer(request) : undefined;
    return files({
      method: request.method ?? "",
      pathname,
      query,
      body,
      session,
      type: request.headers["content-type"] ?? "",
    });
  }
  throw new Refusal(404, "Not Found");
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  return JSON.parse((await buffer(request)).toString());
}

function write(response: ServerResponse, { status = 200, json, bytes, headers }: Answer): void {
  const body = bytes ?? (json === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(json)));
  const type = bytes ? {} : { "content-type": "application/json" };
  response.writeHead(status, { ...type, "content-length": body.length, ...headers }).end(body);
}
