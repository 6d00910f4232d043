import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openDatabase } from "#storage/database.ts";
import type { TestDataDir } from "#storage/testing.ts";
import { callServer } from "#test/support/app.ts";
import { firstAdmin } from "#test/support/client.ts";
import { preparePlatformDataDir } from "#test/support/platform-database.ts";
import { type ServerProcess, startProcess } from "#test/support/process.ts";
import { type Upstream, startUpstream } from "#test/support/upstream.ts";
import { failure, json } from "#test/support/upstream-scripts.ts";

let upstream: Upstream;
let place: TestDataDir;
let server: ServerProcess;

beforeAll(async () => {
  upstream = await startUpstream();
  place = await preparePlatformDataDir();
}, 120_000);
afterAll(async () => {
  await server?.kill();
  await place?.remove();
  await upstream?.close();
});

const minutes = 60_000;

async function until(what: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 2 * minutes; !(await what());) {
    if (performance.now() > end) {
      throw new Error("It did not come to this.");
    }
    await pause(100);
  }
}

/** Promise R9: processing ends, whatever kills the process. */
it(
  "every file is completed or failed with a reason after kill -9 during extraction, and is found by what it says",
  async () => {
    const env = {
      ...place.env,
      CONTENT_EXTRACTION_ENGINE: "external",
      EXTERNAL_DOCUMENT_LOADER_URL: upstream.url,
      BYPASS_EMBEDDING_AND_RETRIEVAL: "true",
    };
    let [asked, isKilled] = [0, false];
    upstream.always("/process", async (exchange) => {
      asked += 1;
      const name = String(exchange.request.headers["x-filename"]);
      if (name === "first.docx") {
        return await json({ page_content: "The heron nests by the pond." })(exchange);
      }
      if (!isKilled) {
        return await exchange.wait(2 * minutes);
      }
      return await (
        name === "good.docx"
          ? json({ page_content: "The otter lives under the bridge." })
          : failure(422, "unreadable")
      )(exchange);
    });
    server = await startProcess(env);
    const token = await firstAdmin(server.url);
    const upload = async (name: string) => {
      const body = new FormData();
      body.append("file", new File([`bytes of ${name}`], name));
      const answer = await fetch(`${server.url}/api/v1/files/`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}` },
        body,
      });
      return ((await answer.json()) as { id: string }).id;
    };
    const read = async (id: string) =>
      (await callServer(server.url, `GET /api/v1/files/${id}`, { token })).body.data;
    const ended = async (id: string) => (await read(id)).status !== "pending";
    const first = await upload("first.docx");
    await until(() => ended(first));
    const [good, bad] = [await upload("good.docx"), await upload("bad.docx")];
    await until(async () => asked === 3);
    await server.kill();
    isKilled = true;

    // As for a file that was read before there was an index.
    const database = await openDatabase({
      dataDir: place.env["DATA_DIR"]!,
      url: place.env["DATABASE_URL"] ?? "",
    });
    await database.query("delete from retrieval_source");
    await database.close();

    server = await startProcess(env);
    await until(async () => (await ended(good)) && (await ended(bad)));
    expect(await read(good)).toMatchObject({
      status: "completed",
      content: "The otter lives under the bridge.",
    });
    expect(await read(bad)).toMatchObject({
      status: "failed",
      error: "The extraction engine external could not read the document (422).",
    });
    const find = async (id: string, query: string) => {
      const body = { collection_names: [`file-${id}`], query };
      const { body: found } = await callServer(server.url, "POST /api/v1/retrieval/query/collection", {
        token,
        body,
      });
      return found.documents[0];
    };
    expect(await find(good, "otter")).toEqual(["The otter lives under the bridge."]);
    await until(async () => (await find(first, "heron")).length === 1);
  },
  5 * minutes,
);
