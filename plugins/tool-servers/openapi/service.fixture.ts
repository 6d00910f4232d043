import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One request that the service got. */
export interface Got {
  readonly method: string;
  /** With its query. */
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface OpenApiService {
  readonly url: string;
  readonly got: Got[];
  /** What `/openapi.json` answers; changed to change the service's schema. */
  document: Record<string, unknown>;
  close(): Promise<void>;
}

const ok = { 200: { description: "ok" } };
const text = { type: "string" };
const body = (schema: unknown, type = "application/json") => ({
  required: true,
  content: { [type]: { schema } },
});

/** A document with a function for each way to send and to answer. */
export const document = () => ({
  openapi: "3.1.0",
  info: { title: "Workshop", version: "1" },
  paths: {
    "/items/{id}": {
      parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
      get: {
        operationId: "get_item",
        summary: "Get an item",
        parameters: [
          { name: "tags", in: "query", schema: { type: "array", items: text } },
          { name: "filter", in: "query", style: "deepObject", schema: { type: "object" } },
          { name: "x-trace", in: "header", schema: text },
          { name: "Authorization", in: "header", schema: text },
          { name: "X-User-Id", in: "header", schema: text },
        ],
        responses: ok,
      },
      put: {
        operationId: "put_item",
        requestBody: body({ $ref: "#/components/schemas/Item" }),
        responses: ok,
      },
    },
    "/answers/{kind}": {
      post: {
        operationId: "answer",
        parameters: [{ name: "kind", in: "path", required: true, schema: text }],
        responses: ok,
      },
    },
    "/plain": { delete: { responses: ok, "x-openai-isConsequential": true } },
  },
  components: {
    schemas: {
      Item: {
        type: "object",
        required: ["name"],
        properties: {
          id: { type: "integer" },
          name: text,
          parts: { type: "array", items: { $ref: "#/components/schemas/Item" } },
          secret: { $ref: "http://127.0.0.1:1/elsewhere.json" },
        },
      },
    },
  },
});

const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

const answers: Record<string, (response: ServerResponse) => void> = {
  json: (response) => send(response, "application/json", JSON.stringify({ list: [1, { two: 2 }] })),
  text: (response) => send(response, "text/plain", "Plain words."),
  page: (response) =>
    send(response, "text/html; charset=utf-8", "<h1>Chart</h1>", { "content-disposition": "inline" }),
  place: (response) =>
    send(response, "application/json", "{}", {
      "content-disposition": "inline",
      location: "https://charts.example/1",
    }),
  picture: (response) => send(response, "image/png", pixel),
  file: (response) =>
    send(response, "application/pdf", "%PDF-1.4", {
      "content-disposition": 'attachment; filename="../../Report 1.pdf"',
    }),
  nothing: (response) => void response.writeHead(204).end(),
  refused: (response) =>
    void response.writeHead(418, { "content-type": "application/json" }).end('{"detail":"short and stout"}'),
  moved: (response) => void response.writeHead(302, { location: "http://127.0.0.1:1/private" }).end(),
  hang: () => undefined,
  midway: (response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
    response.write('{"begun":', () => response.destroy());
  },
  huge: (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const piece = Buffer.alloc(1024 * 1024, "x");
    let left = 50;
    const write = () => {
      while (left > 0) {
        left -= 1;
        if (!response.write(piece)) {
          response.once("drain", write);
          return;
        }
      }
      response.end();
    };
    write();
  },
};

function send(response: ServerResponse, type: string, content: string | Buffer, more = {}): void {
  response.writeHead(200, { "content-type": type, ...more }).end(content);
}

/** Starts a service on a free loopback port that describes itself. */
export async function startOpenApiService(): Promise<OpenApiService> {
  const got: Got[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      // Browsers call it as well.
      response.setHeader("access-control-allow-origin", "*");
      response.setHeader("access-control-allow-headers", "*");
      response.setHeader("access-control-allow-methods", "*");
      if (method === "OPTIONS") {
        response.writeHead(204).end();
        return;
      }
      const one = { method, url, headers, body: Buffer.concat(chunks).toString() };
      got.push(one);
      const kind = /^\/answers\/(\w+)/.exec(url)?.[1];
      if (url === "/openapi.json") {
        send(response, "application/json", JSON.stringify(service.document));
      } else if (kind !== undefined && Object.hasOwn(answers, kind)) {
        answers[kind]?.(response);
      } else {
        send(
          response,
          "application/json",
          JSON.stringify({ method, url, body: one.body, trace: headers["x-trace"] }),
        );
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const service: OpenApiService = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    got,
    document: document(),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return service;
}
