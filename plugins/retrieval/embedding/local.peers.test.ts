import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { indexFile, waitUntilEmbedded } from "../client.fixture.ts";

// A folder with `model.onnx`, `tokenizer.json` and `node_modules` with a runtime and the tokenizers; see `.ci/run`.
const real = process.env["TEST_ONNX_DIR"];

let app: App;
let admin: TestUser;
let folder: string;
let asked: string[] = [];
/** What the hub has, by path; functions answer themselves. */
let published: Record<string, Uint8Array | ((response: ServerResponse) => void)> = {};

const hub = createServer((request, response) => {
  asked.push(request.url ?? "");
  const found = published[request.url ?? ""];
  if (typeof found === "function") {
    found(response);
    return;
  }
  response.writeHead(found === undefined ? 404 : 200, found && { "content-length": found.length });
  response.end(found);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => hub.listen(0, "127.0.0.1", resolve));
  folder = await mkdtemp(join(tmpdir(), "models-"));
  await mkdir(join(folder, "models"));
  if (real !== undefined) {
    await symlink(join(real, "node_modules"), join(folder, "models", "node_modules"));
  }
  app = await startApp({
    env: {
      DATA_DIR: folder,
      RAG_EMBEDDING_ENGINE: "local",
      // Hubs send on to where large files lie.
      AIOHTTP_CLIENT_ALLOW_REDIRECTS: "true",
      RAG_EMBEDDING_HUB_URL: `http://127.0.0.1:${(hub.address() as AddressInfo).port}`,
    },
  });
  admin = await app.admin();
});
afterAll(async () => {
  await app?.close();
  hub.closeAllConnections();
  hub.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  [asked, published] = [[], {}];
});

const choose = (model: string) =>
  admin.call("POST /api/v1/retrieval/embedding/update", { RAG_EMBEDDING_MODEL: model });
const stateOf = async (file: string) =>
  (await admin.call(`GET /api/v1/retrieval/files/${file}/passages`)).body;
const base = "/mill/encoder/resolve/main/";

describe("the hub", () => {
  it("is asked for the smaller weights first, and people see how far the model is", async () => {
    const end = Promise.withResolvers<void>();
    published = {
      [`${base}onnx/model_int8.onnx`]: (response) => {
        response.writeHead(302, { location: "/bytes" });
        response.end();
      },
      "/bytes": (response) => {
        response.writeHead(200, { "content-length": 100 });
        response.write(Buffer.alloc(40));
        void end.promise.then(() => response.end(Buffer.alloc(60)));
      },
      [`${base}tokenizer.json`]: Buffer.from("{}"),
    };
    await choose("mill/encoder");
    const file = await indexFile(app, admin.token, ["a.md", "Eels swim by the mill."]);
    await expect
      .poll(async () => (await stateOf(file)).error, { timeout: 20_000 })
      .toBe("The embedding model mill/encoder is being fetched (40 %).");
    const found = await admin.call("POST /api/v1/retrieval/lab/search", {
      question: "eels",
      files: [file],
      collections: [],
    });
    expect(JSON.stringify(found.body)).toContain("Eels swim by the mill.");
    end.resolve();
    await expect.poll(() => readdir(join(folder, "models"))).toContain("encoder");
    expect(asked.filter((path) => path.startsWith(base)).slice(0, 3)).toEqual([
      `${base}onnx/model_quantized.onnx`,
      `${base}onnx/model_int8.onnx`,
      `${base}tokenizer.json`,
    ]);
    expect((await readFile(join(folder, "models/encoder/model.onnx"))).length).toBe(100);
  });

  it("that lacks a model is named as the reason, and nothing is left behind", async () => {
    await choose("mill/unknown");
    const file = await indexFile(app, admin.token, ["b.md", "Otters live below the weir."]);
    await expect
      .poll(async () => (await stateOf(file)).error, { timeout: 20_000 })
      .toContain("The embedding model mill/unknown could not be fetched: the hub has no");
    expect((await readdir(join(folder, "models"))).filter((name) => name.startsWith("unknown"))).toEqual([]);
  });

  it("is not asked for names that lead out of the folder", async () => {
    await choose("..");
    const file = await indexFile(app, admin.token, ["c.md", "Herons nest by the pond."]);
    await expect
      .poll(async () => (await stateOf(file)).error, { timeout: 20_000 })
      .toBe("RAG_EMBEDDING_MODEL is no name of a folder in DATA_DIR/models.");
    expect(asked).toEqual([]);
  });
});

describe.skipIf(real === undefined)("a real model", () => {
  it("is fetched, and finds what a question means", { timeout: 240_000 }, async () => {
    const place = "/sentence-transformers/all-MiniLM-L6-v2/resolve/main/";
    published = {
      [`${place}onnx/model.onnx`]: await readFile(join(real as string, "model.onnx")),
      [`${place}tokenizer.json`]: await readFile(join(real as string, "tokenizer.json")),
    };
    await choose("");
    const files = await Promise.all([
      indexFile(app, admin.token, ["cats.md", "The feline slept on the warm sofa all afternoon."]),
      indexFile(app, admin.token, ["money.md", "The central bank raised interest rates again."]),
      indexFile(app, admin.token, ["stars.md", "A telescope shows the moons of distant planets."]),
    ]);
    await waitUntilEmbedded(app, files, 200);
    const ask = async (query: string) => {
      const body = { collection_names: files.map((id) => `file-${id}`), query, hybrid: false, k: 1 };
      const answer = await admin.call("POST /api/v1/retrieval/query/collection", body);
      return answer.body.metadatas[0][0].name;
    };
    expect(await ask("a cat taking a nap")).toBe("cats.md");
    expect(await ask("economy and loans")).toBe("money.md");
    expect(await ask("astronomy")).toBe("stars.md");
    const { rows } = await app.running.database.query(
      "select dimensions from embedding_index where status = 'serving' and model = 'all-MiniLM-L6-v2'",
    );
    expect(rows).toEqual([{ dimensions: 384 }]);
  });
});
