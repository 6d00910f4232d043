import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  createServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from "node:http";
import { type AddressInfo, createServer as createTcp } from "node:net";
import { fileURLToPath } from "node:url";
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

export interface TestServer {
  readonly url: string;
  close(): Promise<void>;
}

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The reference server of the protocol's authors, on loopback. */
export async function startEverything(): Promise<TestServer> {
  const port = await freePort();
  const child: ChildProcess = spawn(
    process.execPath,
    [
      "--import",
      `${root}test/mcp-conformance/loopback.mjs`,
      `${root}node_modules/@modelcontextprotocol/server-everything/dist/index.js`,
      "streamableHttp",
    ],
    { env: { PORT: String(port) }, stdio: ["ignore", "ignore", "pipe"] },
  );
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on("data", (text: Buffer) => String(text).includes("listening") && resolve());
    child.once("exit", (code) => reject(new Error(`server-everything ended with ${code}`)));
  });
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    close: () =>
      new Promise((resolve) => {
        child.once("exit", () => resolve());
        child.kill();
      }),
  };
}

async function freePort(): Promise<number> {
  const probe = createTcp();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** A listener that takes connections and says nothing. */
export async function startStalled(): Promise<TestServer> {
  const server = createTcp((socket) => void socket.on("error", () => {}).resume());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const sockets = new Set<{ destroy(): void }>();
  server.on("connection", (socket) => sockets.add(socket));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    close: () =>
      new Promise((resolve) => {
        sockets.forEach((socket) => socket.destroy());
        server.close(() => resolve());
      }),
  };
}

/** Requests and answers of Express, which comes without types. */
export interface AppRequest extends IncomingMessage {
  // oxlint-disable-next-line typescript/no-explicit-any -- bodies are of every shape
  readonly body?: any;
}
export interface AppResponse extends ServerResponse {
  status(code: number): AppResponse;
  set(name: string, value: string): AppResponse;
  json(value: unknown): void;
}

export type ExpressApp = ReturnType<typeof createMcpExpressApp>;

/** Listens on loopback with an Express application, as the SDK's own parts need it. */
export async function listen(
  app: ExpressApp,
): Promise<{ readonly server: HttpServer; readonly port: number }> {
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

export interface OddServer extends TestServer {
  /** Reasons of `notifications/cancelled` that came. */
  readonly cancelled: string[];
  /** Every request to the endpoint, by method of JSON-RPC. */
  readonly asked: {
    readonly method: string;
    readonly authorization: string | undefined;
    readonly headers: Record<string, unknown>;
  }[];
  /** Changes the description of the tool `note`, and tells clients. */
  describe(text: string): void;
  /** Forgets all sessions, as a restart would. */
  forget(): void;
  /** Milliseconds before a session is opened from now on. */
  delay(ms: number): void;
  /** Lists of functions are asked for and not told while it is true. */
  hangLists(isHanging: boolean): void;
}

/** A server that does what servers should not: stalls, breaks off, answers too much, changes. */
export async function startOddServer(): Promise<OddServer> {
  const app = createMcpExpressApp();
  const asked: { method: string; authorization: string | undefined; headers: Record<string, unknown> }[] = [];
  const cancelled: string[] = [];
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const state = { delayMs: 0, hangsLists: false };
  const made: { server: McpServer; note: ReturnType<McpServer["registerTool"]> }[] = [];
  // oxlint-disable-next-line oxc/no-async-endpoint-handlers -- Express 5 takes rejections
  app.all("/mcp", async (request: AppRequest, response: AppResponse) => {
    const method = String(request.body?.method ?? request.method);
    asked.push({ method, authorization: request.headers.authorization, headers: request.headers });
    if (method === "notifications/cancelled") {
      cancelled.push(String(request.body.params.reason));
    }
    if (method === "tools/list" && state.hangsLists) {
      return;
    }
    if (request.body?.params?.name === "closes") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(": begun\n\n");
      setTimeout(() => response.socket?.destroy(), 20);
      return;
    }
    const id = String(request.headers["mcp-session-id"] ?? "");
    const known = sessions.get(id);
    if (known !== undefined || method !== "initialize") {
      if (known === undefined) {
        response
          .status(404)
          .json({ jsonrpc: "2.0", id: null, error: { code: -32001, message: "Session not found" } });
        return;
      }
      await known.handleRequest(request, response, request.body);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, state.delayMs));
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => void sessions.set(session, transport),
    });
    const one = makeOdd();
    made.push(one);
    await one.server.connect(transport as never);
    await transport.handleRequest(request, response, request.body);
  });
  const { server, port } = await listen(app);
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    asked,
    cancelled,
    describe: (description) => made.forEach(({ note }) => note.update({ description })),
    forget: () => sessions.clear(),
    delay: (ms) => void (state.delayMs = ms),
    hangLists: (isHanging) => void (state.hangsLists = isHanging),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function makeOdd() {
  const server = new McpServer({ name: "odd", version: "1" });
  const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });
  const note = server.registerTool(
    "note",
    { description: "Takes a note", annotations: { readOnlyHint: true } },
    () => text("noted"),
  );
  server.registerTool("big", { inputSchema: { megabytes: z.number() } }, ({ megabytes }) =>
    text("x".repeat(megabytes * 1024 * 1024)),
  );
  server.registerTool(
    "hang",
    {},
    ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(text("")))),
  );
  server.registerTool("closes", {}, () => text("never"));
  server.registerTool("fails", {}, () => ({ ...text("The disk is full."), isError: true }));
  server.registerTool("sound", {}, () => ({
    content: [
      { type: "audio" as const, data: Buffer.from("ding").toString("base64"), mimeType: "audio/wav" },
      {
        type: "resource" as const,
        resource: { uri: "file:///a.bin", blob: "AAEC", mimeType: "application/octet-stream" },
      },
    ],
  }));
  server.registerTool("ask", {}, async (_extra) => {
    const answer = await server.server.elicitInput({
      message: "Which room?",
      requestedSchema: {
        type: "object",
        properties: { room: { type: "string" }, days: { type: "integer", default: 2 } },
        required: ["room"],
      },
    });
    return text(JSON.stringify(answer));
  });
  return { server, note };
}
