import { beforeEach, describe, expect, it } from "vitest";
import { type RunStage, isCompletion, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { setUp } from "#test/support/set-up.ts";
import { connectPlain } from "#test/support/sockets.ts";
import { body, json, text } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

// The feature web_search of runs without tool calls of their own (contract §3.2, step 7).

let stage: RunStage;
let web: Upstream;
const question = "Who owns the sluice gate at the mill?";
const sentence = "The sluice gate belongs to Ada Marten.";
const features = { web_search: true };

setUp(async (keep) => {
  web = await keep(startUpstream());
  stage = await keep(
    startRunStage({
      env: {
        ENABLE_WEB_SEARCH: "true",
        WEB_SEARCH_ENGINE: "external",
        EXTERNAL_WEB_SEARCH_URL: `${web.origin}/search`,
        EGRESS_ALLOWED_PRIVATE_ORIGINS: web.origin,
        WEB_FETCH_CACHE_SECONDS: "0",
        OPENAI_API_CONFIGS: JSON.stringify({ 0: { access: "everyone" } }),
      },
    }),
  );
});

const page = (title: string, ...words: string[]) =>
  body(`<title>${title}</title><article>${words.map((each) => `<p>${each}</p>`).join("")}</article>`, {
    headers: { "content-type": "text/html" },
  });

beforeEach(async () => {
  web.always(() => true, body("", { status: 404 }));
  web.always(({ path }) => path === "/mill", page("The mill", "The mill stands by the river.", sentence));
  web.always(({ path }) => path === "/search", json(hits()));
  // The task model, then the answer.
  stage.upstream.always(isCompletion, text("Ada [1]."));
  stage.upstream.always(isQueries, text(JSON.stringify({ queries: ["sluice gate owner", "mill deed"] })));
  await set({
    ENABLE_WEB_SEARCH: true,
    ENABLE_WEB_SEARCH_CONFIRMATION: false,
    ENABLE_SEARCH_QUERY_GENERATION: true,
    BYPASS_WEB_SEARCH_EMBEDDING_AND_RETRIEVAL: false,
    BYPASS_WEB_SEARCH_WEB_LOADER: false,
  });
});

const hits = () => [
  { link: `${web.origin}/mill`, title: "The mill", snippet: "About the mill." },
  { link: `${web.origin}/gone`, title: "A page that is gone", snippet: "It spoke of gates." },
];
const isQueries = (request: Parameters<typeof isCompletion>[0]) =>
  isCompletion(request) && JSON.stringify(request.body.messages).includes("queries");

async function set(values: Record<string, unknown>): Promise<void> {
  const answer = await stage.user.call("POST /api/v1/configs/settings", values);
  expect(answer.status, answer.text).toBe(200);
}

async function ask(changes: object = {}, token = stage.user.token) {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const answer = await stage.app.call("POST /api/chat/completions", {
    token,
    body: { model: "alpha", messages: [{ role: "user", content: question }], features, seed, ...changes },
  });
  const asked = stage.upstream.requests.findLast(
    (request) => isCompletion(request) && request.body?.seed === seed,
  );
  return { ...answer, told: JSON.stringify(asked?.body.messages ?? []) };
}

async function askInChat(changes: object = {}) {
  const chat = await stage.makeChat(question);
  const params = { function_calling: "legacy" };
  await stage.complete({ chat_id: chat.chatId, id: chat.replyId, features, params, ...changes });
  await stage.ended(chat.chatId);
  return await stage.message(chat.chatId, chat.replyId);
}

const searched = () => web.requests.filter(({ path }) => path === "/search");

describe("an answer over HTTP", () => {
  it("rests on what the pages say, which no header calls ignored", async () => {
    const before = searched().length;
    const { status, headers, told, body: answer } = await ask();
    expect(status).toBe(200);
    expect(headers.get("x-service-ignored")).toBeNull();
    expect(told).toContain(sentence);
    expect(
      searched()
        .slice(before)
        .map((request) => request.body.query),
    ).toEqual(["sluice gate owner", "mill deed"]);
    const mill = answer.sources.find(
      ({ source }: { source: { url: string } }) => source.url === `${web.origin}/mill`,
    );
    expect(mill).toMatchObject({ source: { name: "The mill", type: "url" } });
    expect(mill.document.join("\n")).toContain(sentence);
    // Found by its words or their meaning: a page that is given whole has no score.
    expect(mill.distances[0]).toBeGreaterThan(0);
    // The first search of a process opens the embedder, which takes its time on a busy machine.
  }, 90_000);

  it("is given whole pages, or what the engine says, where that is set", async () => {
    await set({ BYPASS_WEB_SEARCH_EMBEDDING_AND_RETRIEVAL: true });
    const whole = await ask();
    expect(whole.told).toContain("The mill stands by the river.");
    expect(whole.body.sources[0].metadata[0]).toMatchObject({ whole: true });
    await set({ BYPASS_WEB_SEARCH_WEB_LOADER: true });
    const opened = web.requests.filter(({ path }) => path === "/mill").length;
    const short = await ask();
    expect(short.told).toContain("About the mill.");
    expect(web.requests.filter(({ path }) => path === "/mill").length).toBe(opened);
  });

  it("searches for the person's own words where no model writes queries, and not at all where none are needed", async () => {
    await set({ ENABLE_SEARCH_QUERY_GENERATION: false });
    await ask();
    expect(searched().at(-1)?.body.query).toBe(question);
    await set({ ENABLE_SEARCH_QUERY_GENERATION: true });
    stage.upstream.always(isQueries, text(JSON.stringify({ queries: [] })));
    const before = searched().length;
    const { status, headers } = await ask();
    expect([status, headers.get("x-service-ignored"), searched().length]).toEqual([200, null, before]);
  });

  it("is not searched for where it is off, not allowed, or not asked", async () => {
    const member = await stage.app.user();
    const permissions = await stage.user.call("GET /api/v1/users/default/permissions");
    const change = (body_: object) => stage.user.call("POST /api/v1/users/default/permissions", body_);
    await change({ ...permissions.body, features: { ...permissions.body.features, web_search: false } });
    const before = searched().length;
    expect((await ask({}, member.token)).headers.get("x-service-ignored")).toBe("features.web_search");
    await change(permissions.body);
    await ask({ features: {} });
    await set({ ENABLE_WEB_SEARCH: false });
    expect((await ask()).headers.get("x-service-ignored")).toBe("features.web_search");
    expect(searched().length).toBe(before);
  });
});

describe("a reply in a chat", () => {
  it("shows the queries, the sites, and which could not be opened", async () => {
    const { content, sources, statusHistory } = await askInChat();
    expect(content).toBe("Ada [1].");
    expect(sources.length).toBeGreaterThan(0);
    expect(statusHistory.map(({ action }: { action: string }) => action)).toEqual([
      "web_search",
      "web_search_queries_generated",
      "web_search",
    ]);
    expect(statusHistory[1]).toMatchObject({ queries: ["sluice gate owner", "mill deed"] });
    expect(statusHistory[2]).toMatchObject({
      done: true,
      urls: [`${web.origin}/mill`, `${web.origin}/gone`],
      items: [
        { title: "The mill" },
        { title: "A page that is gone", error: expect.stringContaining("no such page") },
      ],
    });
  });

  it("goes on without the web where the engine fails, and says so", async () => {
    web.always(({ path }) => path === "/search", json({}, { status: 401 }));
    const { content, error, statusHistory } = await askInChat();
    expect(content).toBe("Ada [1].");
    expect(error).toBeUndefined();
    expect(statusHistory).toContainEqual(
      expect.objectContaining({
        action: "context_unavailable",
        description: "The external search refused the request (401). Is its key right?",
      }),
    );
  });

  it("asks the person first where that is set", async () => {
    await set({ ENABLE_WEB_SEARCH_CONFIRMATION: true });
    const before = searched().length;
    const unasked = await askInChat({ session_id: undefined });
    expect(unasked.statusHistory).toContainEqual(
      expect.objectContaining({ description: "The web was not searched: nobody allowed it." }),
    );
    expect(searched().length).toBe(before);
    const asked: unknown[] = [];
    const client = await connectPlain(stage.app.url, {
      token: stage.user.token,
      answer: (payload) => asked.push(payload) > 0,
    });
    const allowed = await askInChat({ session_id: await client.sessionId() });
    client.close();
    expect(asked).toHaveLength(1);
    expect(allowed.statusHistory.at(-1)).toMatchObject({ action: "web_search", done: true });
    expect(searched().length).toBe(before + 2);
  });
});

it("reads a page that a question names by its address", async () => {
  const files = [{ type: "url", url: `${web.origin}/mill`, name: "mill" }];
  const { told, body: answer } = await ask({ features: {}, files });
  expect(told).toContain(sentence);
  expect(answer.sources).toMatchObject([{ source: { name: "The mill", url: `${web.origin}/mill` } }]);
});
