import { describe, expect, it } from "vitest";
import { toPdf } from "#plugins/extraction/pdf.fixture.ts";
import { type App, startApp } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { body, json } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

let app: App;
let web: Upstream;
let token: string;

setUp(async (keep) => {
  web = await keep(startUpstream());
  web.always(() => true, body("", { status: 404 }));
  web.always(
    ({ path }) => path === "/mill",
    body("<title>The mill</title><p>The sluice gate belongs to Ada Marten.</p>", {
      headers: { "content-type": "text/html" },
    }),
  );
  web.always(
    ({ path }) => path === "/search",
    json([
      { link: `${web.origin}/mill`, title: "Mill", snippet: "About it." },
      { link: `${web.origin}/gone`, title: "Gone", snippet: "" },
    ]),
  );
  app = await keep(
    startApp({
      env: {
        WEB_SEARCH_ENGINE: "external",
        EXTERNAL_WEB_SEARCH_URL: `${web.origin}/search`,
        EGRESS_ALLOWED_PRIVATE_ORIGINS: web.origin,
      },
    }),
  );
  token = (await app.admin()).token;
});

it("reads documents that stand on the web, and no others", async () => {
  const pdf = toPdf(["The sluice gate belongs to Ada Marten."]);
  const at = (path: string, bytes: Uint8Array, type: string) =>
    web.always((request) => request.path === path, body(bytes, { headers: { "content-type": type } }));
  at("/deed.pdf", pdf, "application/pdf");
  at("/program.bin", Buffer.from([0, 1, 2, 3]), "application/octet-stream");
  const read = (path: string) =>
    post("/api/v1/retrieval/process/web?process=false", { url: web.origin + path });
  expect((await read("/deed.pdf")).body).toMatchObject({
    filename: "deed.pdf",
    content: expect.stringContaining("The sluice gate belongs to Ada Marten."),
  });
  expect(await read("/program.bin")).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining("cannot be read as text") },
  });
});

const bases = ["/api/v1/retrieval", "/retrieval/api/v1"];
const post = (path: string, sent: unknown, who = token) =>
  app.call(`POST ${path}`, { token: who, body: sent });

describe.each(bases)("%s", (base) => {
  it("gives the text of a page without storing it", async () => {
    for (const route of ["web", "youtube"]) {
      const answer = await post(`${base}/process/${route}?process=false`, { url: `${web.origin}/mill` });
      expect(answer).toMatchObject({
        status: 200,
        body: {
          status: true,
          collection_name: null,
          filename: "The mill",
          content: "The sluice gate belongs to Ada Marten.",
          file: {
            data: { content: "The sluice gate belongs to Ada Marten." },
            meta: { name: "The mill", source: `${web.origin}/mill` },
          },
        },
      });
    }
  });

  it("refuses what is private, no address, or not there", async () => {
    const tries = [
      ["http://127.0.0.1:8099/", 403],
      ["http://169.254.169.254/", 403],
      ["ftp://mill.example/", 400],
      [`${web.origin}/gone`, 502],
    ] as const;
    for (const [url, status] of tries) {
      expect((await post(`${base}/process/web`, { url })).status).toBe(status);
    }
  });

  it("searches for people who may alone, while web search is on", async () => {
    const path = `${base}/process/web/search`;
    const set = (ENABLE_WEB_SEARCH: boolean) =>
      post("/api/v1/configs/settings", {
        ENABLE_WEB_SEARCH,
        BYPASS_WEB_SEARCH_EMBEDDING_AND_RETRIEVAL: true,
      });
    await set(false);
    expect((await post(path, { queries: ["mill"] })).status).toBe(403);
    await set(true);
    const member = await app.user();
    expect(await post(path, { queries: ["mill", "mill"] }, member.token)).toMatchObject({
      status: 200,
      body: {
        status: true,
        collection_name: null,
        filenames: [`${web.origin}/mill`],
        items: [{ title: "Mill", link: `${web.origin}/mill` }, { title: "Gone" }],
        docs: [
          { content: "The sluice gate belongs to Ada Marten.", metadata: { source: `${web.origin}/mill` } },
        ],
        loaded_count: 1,
      },
    });
    const permissions = (await app.call("GET /api/v1/users/default/permissions", { token })).body;
    const without = {
      ...permissions,
      features: { ...permissions.features, web_search: false },
      chat: { ...permissions.chat, web_upload: false },
    };
    await post("/api/v1/users/default/permissions", without);
    expect((await post(path, { queries: ["mill"] }, member.token)).status).toBe(403);
    expect((await post(`${base}/process/web`, { url: `${web.origin}/mill` }, member.token)).status).toBe(403);
    await post("/api/v1/users/default/permissions", permissions);
    expect((await post(path, { queries: [] })).status).toBe(422);
  });

  it("indexes a page into a new collection of one's own, or into a named one", async () => {
    const query = async (collection: string, who = token) =>
      await post(`${base}/query/collection`, { collection_names: [collection], query: "sluice gate" }, who);
    const url = `${web.origin}/mill`;
    const { body: fresh } = await post(`${base}/process/web`, { url });
    expect(fresh).toMatchObject({ status: true, collection_name: expect.any(String), filename: "The mill" });
    const found = await query(fresh.collection_name);
    expect(found.body.documents).toEqual([["The sluice gate belongs to Ada Marten."]]);
    expect(found.body.metadatas[0][0]).toMatchObject({ name: "The mill", source: url });

    const name = `pages-${crypto.randomUUID()}`;
    await post(`${base}/process/web`, { url, collection_name: name });
    await post(`${base}/process/web`, { url, collection_name: name });
    expect((await query(name)).body.documents[0]).toHaveLength(1);
    await post(`${base}/process/web?overwrite=false`, { url, collection_name: name });
    expect((await query(name)).body.documents[0].length).toBeGreaterThanOrEqual(1);

    const other = await app.user();
    for (const [route, sent] of [
      ["web?overwrite=true", { url }],
      ["youtube?overwrite=true", { url }],
      ["web?overwrite=true", { url: `${web.origin}/gone` }],
    ] as const) {
      const refused = await post(`${base}/process/${route}`, { ...sent, collection_name: name }, other.token);
      expect(refused.status).toBe(404);
    }
    expect((await query(name, other.token)).status).toBe(404);
    expect((await query(name)).body.documents[0].length).toBeGreaterThanOrEqual(1);
  });

  it("indexes what a search found", async () => {
    await post("/api/v1/configs/settings", {
      ENABLE_WEB_SEARCH: true,
      BYPASS_WEB_SEARCH_EMBEDDING_AND_RETRIEVAL: false,
    });
    const { body: found } = await post(`${base}/process/web/search`, { queries: ["mill"] });
    expect(found).toMatchObject({ status: true, filenames: [`${web.origin}/mill`], loaded_count: 1 });
    expect(found.collection_names).toHaveLength(1);
    const asked = { collection_names: found.collection_names, query: "sluice gate" };
    expect((await post(`${base}/query/collection`, asked)).body.documents[0]).toHaveLength(1);
  });
});
