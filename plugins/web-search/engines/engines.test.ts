import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { html, silence } from "#test/support/upstream-faults.ts";
import { json } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import type { WebSettings } from "../config.ts";
import { createTestEgress, type TestEgress, toSettings } from "../web-search.fixture.ts";
import { type Contract, contracts, key, mill, river } from "./contracts.fixture.ts";
import { createEngines } from "./engines.ts";

let peer: Upstream;
let egress: TestEgress;

beforeEach(async () => {
  peer = await startUpstream();
  egress = createTestEgress(peer.origin);
});

afterEach(async () => {
  await egress.close();
  await peer.close();
});

const all = () => true;

function open(contract: Contract, changes: Partial<WebSettings> = {}) {
  const settings = toSettings({ ...contract.settings(peer.origin), ...changes });
  const engine = createEngines({ egress, settings }).find(({ id }) => id === contract.id)!;
  const search = () => engine.search({ query: "water mill", count: 2, signal: new AbortController().signal });
  return { engine, search };
}

test("every engine has its contract here", () => {
  const ids = createEngines({ egress, settings: toSettings() }).map(({ id }) => id);
  expect(ids.toSorted()).toEqual(contracts.map(({ id }) => id).toSorted());
});

describe.each(contracts)("$id", (contract) => {
  it("asks as documented and reads the documented answer", async () => {
    peer.always(all, json(contract.answer));
    const hits = await open(contract).search();
    expect(hits).toEqual([
      { title: "A wheel", link: mill, snippet: "It turns." },
      { title: "A river", link: river, snippet: "It flows." },
    ]);
    const [request] = peer.requests;
    const sent = new URL(request!.path, peer.origin);
    const [{ url, trust } = { url: undefined, trust: undefined }] = egress.asked;
    expect(request!.method).toBe(contract.method);
    expect(`${url?.origin}${url?.pathname}`).toBe(contract.address(peer.origin));
    expect(trust).toBe("operator");
    expect(Object.fromEntries(sent.searchParams)).toEqual(contract.query ?? {});
    expect(request!.headers).toMatchObject({ ...contract.headers, accept: "application/json" });
    expect(request!.body).toEqual(contract.body);
  });

  it("finds nothing where nothing was found", async () => {
    peer.always(all, json(contract.empty));
    expect(await open(contract).search()).toEqual([]);
  });

  it("says in words what went wrong, without the key", async () => {
    const faults = [
      [
        json({ error: "bad key" }, { status: 401 }),
        "upstream",
        /refused the request \(401\)\. Is its key right/,
      ],
      [
        json({}, { status: 429, headers: { "retry-after": "7" } }),
        "rate_limited",
        /too often\. It says to wait 7 s/,
      ],
      [html(), "upstream", /something other than JSON/],
      [json("odd"), "upstream", /form that is not the documented one/],
      [json({}, { status: 500 }), "upstream", /answered with status 500/],
    ] as const;
    for (const [script, code, detail] of faults) {
      peer.reply(all, script);
      const error = await open(contract)
        .search()
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code, message: expect.stringMatching(detail) });
      expect(String((error as Error).message)).not.toContain(key);
    }
  });

  it("gives up on an engine that does not answer", async () => {
    peer.always(all, silence());
    const error = await open(contract, { searchTimeout: 0.05 })
      .search()
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "timeout", message: expect.stringContaining("in time") });
  });

  it("says what is missing", () => {
    const [engine] = createEngines({ egress, settings: toSettings() }).filter(({ id }) => id === contract.id);
    expect(engine?.missing()).toContain(contract.needs);
    expect(open(contract).engine.missing()).toEqual([]);
    expect(engine?.variables).toContain(contract.needs);
  });
});

test("Google is asked for further pages where more than ten results are wanted", async () => {
  const page = (from: number, size: number) =>
    json({
      items: Array.from({ length: size }, (_, at) => ({
        title: `Result ${from + at}`,
        link: `https://mill.example/${from + at}`,
        snippet: "",
      })),
    });
  peer.reply(all, page(1, 10));
  peer.reply(all, page(11, 3));
  const contract = contracts.find(({ id }) => id === "google_pse")!;
  const settings = toSettings(contract.settings(peer.origin));
  const engine = createEngines({ egress, settings }).find(({ id }) => id === "google_pse")!;
  const hits = await engine.search({ query: "mill", count: 15, signal: new AbortController().signal });
  expect(hits).toHaveLength(13);
  const sizes = peer.requests.map(({ path }) => new URL(path, peer.origin).searchParams);
  expect(sizes.map((sent) => [sent.get("num"), sent.get("start")])).toEqual([
    ["10", "1"],
    ["5", "11"],
  ]);
});

test("addresses that are no web addresses are left out, and long texts are cut", async () => {
  const contract = contracts.find(({ id }) => id === "external")!;
  peer.always(
    all,
    json([
      { link: "javascript:alert(1)", title: "A", snippet: "" },
      { link: "file:///etc/passwd", title: "B", snippet: "" },
      { title: "without an address" },
      { link: "https://long.example/", title: "", snippet: "x".repeat(50_000) },
      7,
      null,
    ]),
  );
  const hits = await open(contract).search();
  expect(hits.map(({ link, title }) => [link, title])).toEqual([["https://long.example/", "long.example"]]);
  expect(hits[0]?.snippet).toHaveLength(2_000);
});
