import type { IncomingMessage, ServerResponse } from "node:http";
import { AppError } from "#kernel/errors.ts";
import type { Sockets } from "#kernel/sockets/server.ts";
import type { NodeHandler } from "./application.ts";
import { toErrorAnswer } from "./errors.ts";
import {
  hasOwnListener,
  isBelow,
  type Surface,
  type SurfaceFacts,
  surfaces,
  withoutAlias,
} from "./surfaces.ts";

/** The handler of the listener: 503 while the process starts, and the platform once it is open. */
export interface StartupHandler {
  readonly handler: NodeHandler;
  readonly sockets: Pick<Sockets, "isOurs" | "upgrade">;
  open(handler: NodeHandler, sockets: Sockets): void;
}

/**
 * Makes the handler of a process that starts. The listener is bound before the database is opened, so that a port in use
 * stops a start that has changed nothing yet.
 */
export function createStartupHandler(): StartupHandler {
  let opened: { readonly handler: NodeHandler; readonly sockets: Sockets } | undefined;
  return {
    handler: (req, res) => (opened === undefined ? answerStarting(req, res) : opened.handler(req, res)),
    sockets: {
      isOurs: (req) => opened?.sockets.isOurs(req) ?? false,
      upgrade: async (req, socket, head) => await opened?.sockets.upgrade(req, socket, head),
    },
    open(handler, sockets) {
      opened = { handler, sockets };
    },
  };
}

const starting = new AppError("unavailable", "The server is starting. Try again in a moment.", {
  retryAfter: 2,
});

/** Browsers get a page that reloads itself; it needs no script and no other file. */
const startingPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta http-equiv="refresh" content="2">
<title>Starting…</title>
<body>
<h1>The server is starting</h1>
<p>This page reloads by itself.</p>
`;

function answerStarting(req: IncomingMessage, res: ServerResponse): void {
  const isPage =
    (req.method === "GET" || req.method === "HEAD") && req.headers.accept?.includes("text/html") === true;
  const { status, headers, body } = toErrorAnswer(starting, {
    shape: findShape(req.url ?? "/"),
    invalidStatus: 400,
    requestId: "",
  });
  const type = isPage ? "text/html; charset=utf-8" : "application/json";
  res.writeHead(status, { "content-type": type, "cache-control": "no-store", vary: "accept", ...headers });
  res.end(req.method === "HEAD" ? undefined : isPage ? startingPage : body);
  // A body that nobody reads would keep the connection from its next request.
  req.resume();
}

/** The shape in which the surface of a URL writes its errors; the longest base that fits decides. */
function findShape(given: string): SurfaceFacts["errors"] {
  const url = withoutAlias(given);
  const [found = "main"] = (Object.keys(surfaces) as Surface[])
    .filter((name) => !hasOwnListener(name) && isBelow(url, surfaces[name].base))
    .toSorted((one, other) => surfaces[other].base.length - surfaces[one].base.length);
  const { base, errors, inner }: SurfaceFacts = surfaces[found];
  return inner !== undefined && isBelow(url, base + inner.base) ? inner.errors : errors;
}
