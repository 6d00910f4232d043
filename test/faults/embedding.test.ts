import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  embeddings,
  serverVariables,
  startEmbeddingServer,
} from "#plugins/retrieval/embedding-server.fixture.ts";
import type { TestDataDir } from "#storage/testing.ts";
import { openDatabase } from "#storage/database.ts";
import { callServer } from "#test/support/app.ts";
import { firstAdmin } from "#test/support/client.ts";
import { preparePlatformDataDir } from "#test/support/platform-database.ts";
import { type ServerProcess, startProcess } from "#test/support/process.ts";
import type { Upstream } from "#test/support/upstream.ts";

let upstream: Upstream;
let place: TestDataDir;
let server: ServerProcess;

beforeAll(async () => {
  upstream = await startEmbeddingServer();
  place = await preparePlatformDataDir();
}, 120_000);
afterAll(async () => {
  await server?.kill();
  await place?.remove();
  await upstream?.close();
});

const passages = 24;
const content = Array.from(
  { length: passages },
  (_, at) => `Page ${at}: ${"The eel swims by the mill. ".repeat(8)}`,
).join("\n\n");

/** Promise R9: processing ends, whatever kills the process. */
it("embedding goes on after kill -9 where it was, and loses one batch at most", async () => {
  const env = {
    ...place.env,
    ...serverVariables(upstream),
    RAG_EMBEDDING_BATCH_SIZE: "2",
    CHUNK_SIZE: "260",
    CHUNK_OVERLAP: "0",
  };
  const seen = { inputs: 0 };
  const atLeast = async (count: number) => {
    while (seen.inputs < count) {
      await pause(5);
    }
  };
  upstream.always("/embeddings", async (exchange) => {
    seen.inputs += (exchange.request.body as { input: string[] }).input.length;
    await exchange.wait(40);
    await embeddings()(exchange);
  });
  server = await startProcess(env);
  const token = await firstAdmin(server.url);
  const made = await callServer(server.url, "POST /api/v1/retrieval/process/text", {
    token,
    body: { name: "pages", content, collection_name: "pages" },
  });
  expect(made.status).toBe(200);
  await atLeast(8);
  await server.kill();
  expect(seen.inputs).toBeLessThan(passages);

  server = await startProcess(env);
  const found = await callServer(server.url, "POST /api/v1/retrieval/query/collection", {
    token,
    body: { collection_names: ["pages"], query: "where does the eel swim?" },
  });
  expect(found.body.documents[0].length).toBeGreaterThan(0);
  await atLeast(passages);
  // A question was embedded as well.
  await pause(500);
  expect(seen.inputs).toBeLessThanOrEqual(passages + 2 + 1);
  await server.stop();

  const database = await openDatabase({
    dataDir: place.env["DATA_DIR"]!,
    url: place.env["DATABASE_URL"] ?? "",
  });
  const { rows } = await database.query(
    `select s.passages, s.error, (select count(*)::integer from passage_vector v where v.source_id = s.id) as vectors
     from retrieval_source s`,
  );
  await database.close();
  expect(rows).toEqual([{ passages, error: null, vectors: passages }]);
}, 180_000);
