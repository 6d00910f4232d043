import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { runInNewContext } from "node:vm";

/** One pipeline as the server runs it. */
export interface ServedPipeline {
  type: "filter" | "pipe";
  name?: string;
  valves: Record<string, unknown>;
  inlet?(body: Body, user: User): unknown;
  outlet?(body: Body, user: User): unknown;
}

type User = { id: string; email: string; name: string; role: string };
// Filters read requests and conversations of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
type Body = any;

export interface PipelinesServer {
  readonly url: string;
  readonly pipelines: Map<string, ServedPipeline>;
  /** Every request that was authorised, in order: `METHOD /path`. */
  readonly calls: string[];
  /** While on, requests are taken and never answered. */
  hang(on: boolean): void;
  close(): Promise<void>;
}

/**
 * A pipelines server as operators run them: lists, adds, uploads and deletes pipelines, changes their valves and runs
 * their filters. A pipeline's code is a JavaScript expression for a ServedPipeline; `port` brings one back.
 */
export async function startPipelinesServer(key: string, port = 0): Promise<PipelinesServer> {
  const pipelines = new Map<string, ServedPipeline>();
  const calls: string[] = [];
  const state = { hangs: false };
  const server = createServer((request, response) => {
    const answer = (status: number, value: unknown) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    };
    if (state.hangs) {
      return;
    }
    if (request.headers.authorization !== `Bearer ${key}`) {
      answer(401, { detail: "Invalid API key" });
      return;
    }
    const path = (request.url ?? "").split("?")[0]!;
    calls.push(`${request.method} ${path}`);
    serve(pipelines, path, request).then(
      (value) => answer(200, value),
      (error: unknown) => {
        const refusal = error instanceof Refusal ? error : new Refusal(500, String((error as Error).message));
        answer(refusal.status, { detail: refusal.message });
      },
    );
  });
  const url = await listen(server, port);
  return {
    url,
    pipelines,
    calls,
    hang: (on) => void (state.hangs = on),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

async function serve(pipelines: Map<string, ServedPipeline>, path: string, request: IncomingMessage) {
  const parts = path.split("/").slice(1).map(decodeURIComponent);
  const [first = "", second = "", third = ""] = parts;
  if (path === "/models") {
    return { object: "list", pipelines: true, data: [...pipelines].map(toItem) };
  }
  if (first === "pipelines") {
    return manage(pipelines, second, request);
  }
  const pipeline = pipelines.get(first);
  if (pipeline === undefined) {
    throw new Refusal(404, `Pipeline ${first} not found`);
  }
  if (second === "valves") {
    return valves(pipeline, third, request);
  }
  if (second === "filter" && (third === "inlet" || third === "outlet")) {
    const { body, user } = await readJson(request);
    return pipeline[third] ? pipeline[third](body, user) : body;
  }
  throw new Refusal(404, "Not Found");
}

async function manage(pipelines: Map<string, ServedPipeline>, action: string, request: IncomingMessage) {
  switch (`${request.method} ${action}`) {
    case "GET ":
      return {
        data: [...pipelines].map(([id, { name, type }]) => ({ id, name: name ?? id, type, valves: true })),
      };
    case "POST add": {
      const { url } = await readJson(request);
      const source = await fetch(url);
      install(pipelines, new URL(url).pathname.split("/").at(-1)!, await source.text());
      return { status: true, detail: `Pipeline added successfully from ${url}` };
    }
    case "POST upload": {
      const form = await new Response(await text(request), {
        headers: { "content-type": request.headers["content-type"]! },
      }).formData();
      const file = form.get("file") as File;
      install(pipelines, file.name, await file.text());
      return { status: true, detail: "Pipeline uploaded successfully" };
    }
    case "DELETE delete": {
      const { id } = await readJson(request);
      if (!pipelines.delete(id)) {
        throw new Refusal(404, `Pipeline ${id} not found`);
      }
      return { status: true, detail: "Pipeline deleted successfully" };
    }
    default:
      throw new Refusal(404, "Not Found");
  }
}

async function valves(pipeline: ServedPipeline, action: string, request: IncomingMessage) {
  if (action === "spec") {
    const properties = Object.fromEntries(
      Object.entries(pipeline.valves).map(([name, value]) => [name, { default: value }]),
    );
    return { type: "object", properties };
  }
  if (action === "update") {
    Object.assign(pipeline.valves, await readJson(request));
  }
  return pipeline.valves;
}

/** Valves of a filter say what it is for, as they do on real servers. */
function toItem([
  id,
  {
    type,
    name,
    valves: { priority, pipelines },
  },
]: [string, ServedPipeline]) {
  const pipeline = type === "filter" ? { type, priority, pipelines, valves: true } : { type, valves: true };
  return { id, name: name ?? id, object: "model", created: 1_700_000_000, owned_by: "mock", pipeline };
}

function install(pipelines: Map<string, ServedPipeline>, filename: string, source: string): void {
  if (!filename.endsWith(".js")) {
    throw new Refusal(400, "Only .js files are allowed.");
  }
  pipelines.set(filename.slice(0, -3), runInNewContext(`(${source})`) as ServedPipeline);
}

async function readJson(request: IncomingMessage): Promise<Body> {
  return JSON.parse(await text(request));
}

function listen(server: Server, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    });
  });
}
