import { setTimeout as pause } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { useApp } from "#test/support/shared-apps.ts";
import type { Upstream } from "#test/support/upstream.ts";
import { failure } from "#test/support/upstream-scripts.ts";
import { indexText, waitUntilEmbedded } from "./client.fixture.ts";
import { embeddings, serverVariables, startEmbeddingServer } from "./embedding-server.fixture.ts";

let app: App;
let upstream: Upstream;
let admin: TestUser;

setUp(async (keep) => {
  upstream = await keep(startEmbeddingServer());
  app = await keep(useApp({ env: serverVariables(upstream) }));
  admin = await app.admin();
});
beforeEach(() => upstream.always("/embeddings", embeddings()));

const rows = async (text: string, values: unknown[] = []) =>
  (await app.running.database.query(text, values)).rows;

async function ask(name: string, query: string, settings: object = {}) {
  const body = { collection_names: [name], query, ...settings };
  const answer = await admin.call("POST /api/v1/retrieval/query/collection", body);
  expect(answer.status).toBe(200);
  return answer.body;
}

const stateOf = async (collection: string) =>
  (
    await rows(
      `select s.* from retrieval_source s join retrieval_member m on m.item_id = s.item_id
       where m.collection = $1 and s.status = 'live'`,
      [collection],
    )
  )[0] as { item_id: string; error: string | null; attempts: number; embedded_in: number | null };

async function until<T>(probe: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const found = await probe();
    if (found) {
      return found;
    }
    await pause(50);
  }
}

describe("an embedding server", () => {
  it("gets passages in batches with its key and model, and finds by meaning", async () => {
    const note = { name: "note", content: "Salmon climb the ladder." };
    const { collection_name: name } = await indexText(app, admin.token, note);
    await waitUntilEmbedded(app, [(await stateOf(name)).item_id]);
    const requests = upstream.requests.filter(({ path }) => path.endsWith("/embeddings"));
    // Passages of other suites of this platform may travel in the same batch.
    const request = requests.find(({ body }) => (body.input as string[]).includes(note.content));
    expect(request?.headers["authorization"]).toBe("Bearer key-1");
    expect(request?.body.model).toBe("counting");
    const found = await ask(name, "salmon", { hybrid: false });
    expect(found.documents).toEqual([["Salmon climb the ladder."]]);
  });

  it("gets passages of people in turns, so that a short text does not wait for a long one", async () => {
    const mayAnswer = Promise.withResolvers<void>();
    const batches: string[][] = [];
    upstream.always("/embeddings", async (exchange) => {
      await mayAnswer.promise;
      batches.push((exchange.request.body as { input: string[] }).input);
      await embeddings()(exchange);
    });
    const other = await app.user();
    const chapters = Array.from({ length: 250 }, (_, at) => `Chapter ${at}. ${"flood ".repeat(160)}`);
    const long = await indexText(app, admin.token, { name: "long", content: chapters.join("\n\n") });
    const short = await indexText(app, other.token, { name: "short", content: "Willow by the weir." });
    mayAnswer.resolve();
    const items = [
      (await stateOf(long.collection_name)).item_id,
      (await stateOf(short.collection_name)).item_id,
    ];
    await waitUntilEmbedded(app, items);
    const ofLong = batches.filter((batch) => batch.some((text) => text.includes("Chapter")));
    const at = batches.findIndex((batch) => batch.some((text) => text.includes("Willow by the weir.")));
    expect(ofLong.length).toBeGreaterThan(5);
    // The batch that had begun, and one for each turn of the list of people.
    expect(at).toBeLessThanOrEqual(2);
  });

  it("that is down leaves the search by words, and is tried again", async () => {
    upstream.always("/embeddings", failure(500, "out of memory"));
    const note = { name: "note", content: "The ferry hangs on a chain." };
    const { collection_name: name } = await indexText(app, admin.token, note);
    const failed = await until(async () => {
      const state = await stateOf(name);
      return state.attempts > 0 && state;
    });
    expect(failed.error).toContain("The embedding server answered 500");
    expect((await ask(name, "where does the ferry hang?")).documents[0]).toEqual([note.content]);
    // Words are better than nothing where vectors alone were asked for.
    expect((await ask(name, "ferry", { hybrid: false })).documents[0]).toEqual([note.content]);
    upstream.always("/embeddings", embeddings());
    await waitUntilEmbedded(app, [failed.item_id]);
    expect(await stateOf(name)).toMatchObject({ error: null, attempts: 0 });
  });

  it("that gives vectors of another size is told of, and stores none", async () => {
    upstream.always("/embeddings", embeddings(5));
    const note = { name: "note", content: "The bridge has seven arches." };
    const { collection_name: name } = await indexText(app, admin.token, note);
    const failed = await until(async () => {
      const state = await stateOf(name);
      return state.attempts > 0 && state;
    });
    expect(failed.error).toBe("The embedding model gives vectors of 5 numbers, and those of before have 8.");
    expect((await ask(name, "arches")).documents[0]).toEqual([note.content]);
    upstream.always("/embeddings", embeddings());
    await waitUntilEmbedded(app, [failed.item_id]);
  });

  it("may be changed: the vectors of before serve until the new ones are complete", async () => {
    const note = { name: "note", content: "An otter swims below the willow." };
    const { collection_name: name } = await indexText(app, admin.token, note);
    const { item_id: item } = await stateOf(name);
    await waitUntilEmbedded(app, [item]);
    const [before] = await rows("select id from embedding_index where status = 'serving'");
    // The new model has another size, and does not answer yet.
    upstream.always("/embeddings", async (exchange) => {
      const { model } = exchange.request.body as { model: string };
      await (model === "counting" ? embeddings()(exchange) : failure(503, "loading")(exchange));
    });
    const changed = await admin.call("POST /api/v1/retrieval/embedding/update", {
      RAG_EMBEDDING_MODEL: "larger",
    });
    expect(changed.body).toMatchObject({ RAG_EMBEDDING_MODEL: "larger" });
    await until(async () => (await rows("select 1 from embedding_index where status = 'filling'"))[0]);
    expect((await ask(name, "otter", { hybrid: false })).documents[0]).toEqual([note.content]);
    expect((await rows("select id from embedding_index where status = 'serving'"))[0]).toEqual(before);

    upstream.always("/embeddings", embeddings(12));
    await admin.call("POST /api/v1/retrieval/embedding/update", { RAG_EMBEDDING_BATCH_SIZE: 8 });
    await until(async () => {
      const [serving] = await rows("select id, dimensions from embedding_index where status = 'serving'");
      return serving?.["dimensions"] === 12;
    });
    expect((await ask(name, "otter", { hybrid: false })).documents[0]).toEqual([note.content]);
    await until(
      async () =>
        (await rows("select 1 from passage_vector where index_id = $1", [before?.["id"]])).length === 0,
    );
  });
});

describe("the index", () => {
  it("counts words of collections as it would from the passages", async () => {
    const one = await indexText(app, admin.token, {
      name: "a",
      content: "Eels by the mill. Eels in the race.",
    });
    const name = one.collection_name;
    await indexText(app, admin.token, {
      name: "b",
      content: "The mill and the flood.",
      collection_name: name,
    });
    const counted = () =>
      rows("select lexeme, passages from retrieval_term where collection = $1 order by 1", [name]);
    const expected = () =>
      rows(
        `select lexeme, count(*)::integer as passages from retrieval_passage p
         join retrieval_source s on s.id = p.source_id and s.status = 'live'
         join retrieval_member m on m.item_id = s.item_id, unnest(tsvector_to_array(p.lexemes)) as lexeme
         where m.collection = $1 group by 1 order by 1`,
        [name],
      );
    expect(await counted()).toEqual(await expected());
    expect(await counted()).toContainEqual({ lexeme: "mill", passages: 2 });
    const replaced = await admin.call("POST /api/v1/retrieval/process/text?overwrite=true", {
      name: "c",
      content: "Only the otter is left.",
      collection_name: name,
    });
    expect(replaced.status).toBe(200);
    expect(await counted()).toEqual(await expected());
    expect((await ask(name, "otter")).documents).toEqual([["Only the otter is left."]]);
  });

  it("reads from ts_rank how often a lexeme stands in a passage", async () => {
    for (const count of [1, 2, 3, 5, 9, 20]) {
      const [row] = await rows(
        `select round(1 / (1.644934 * (1 - ts_rank('{1,1,1,1}', to_tsvector('simple', $1), 'eel')::float8)) - 0.5) as n`,
        [Array.from({ length: count }, () => "eel and").join(" ")],
      );
      expect(Number(row?.["n"])).toBe(count);
    }
  });
});
