import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { html as errorPage, silence } from "#test/support/upstream-faults.ts";
import { body, json } from "#test/support/upstream-scripts.ts";
import type { Script } from "#test/support/upstream-exchange.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import type { WebSettings } from "../config.ts";
import { createTestEgress, type TestEgress, toSettings } from "../web-search.fixture.ts";
import { createPages, type Pages } from "./pages.ts";

let host: Upstream;
let egress: TestEgress;
let pages: Pages | undefined;

beforeEach(async () => {
  host = await startUpstream();
  egress = createTestEgress(host.origin, { allowedOrigins: [host.origin], redirects: true });
  at("/robots.txt", body("", { status: 404 }));
});

afterEach(async () => {
  pages?.close();
  await egress.close();
  await host.close();
});

const at = (path: string, script: Script) => host.always((request) => request.path === path, script);
const page = (text: string | Uint8Array, type = "text/html") =>
  body(text, { headers: { "content-type": type } });
const signal = () => new AbortController().signal;

function open(changes: Partial<WebSettings> = {}, used: TestEgress = egress): Pages {
  pages?.close();
  pages = createPages({ egress: used, settings: toSettings(changes) });
  return pages;
}

const load = (path: string, changes: Partial<WebSettings> = {}) =>
  open(changes).load(host.origin + path, signal());

const article = `<!doctype html><html><head><title>The water mill — Rivers of the world</title></head><body>
<nav><a href="/home">Home</a><a href="/shop">Buy a wheel</a></nav>
<article><h1>The water mill</h1>
<p>A water mill is a mill that uses hydropower. It is a structure that uses a water wheel or water turbine to drive a
mechanical process such as milling, rolling, or hammering, and <a href="../wheel">its wheel</a> is turned by the flow.</p>
<p>Such processes are needed in the production of many material goods, including flour, lumber, paper, textiles, and
many metal products. These mills may comprise gristmills, sawmills, paper mills and textile mills.</p>
<script>alert("no")</script></article><footer>All rights reserved</footer></body></html>`;

describe("reading", () => {
  it("gives an article as Markdown, without its frame, with whole links", async () => {
    at("/mill/page", page(article));
    const found = await load("/mill/page");
    expect(found).toMatchObject({ title: "The water mill — Rivers of the world", isTruncated: false });
    expect(found.content).toContain("uses hydropower");
    expect(found.content).toContain(`[its wheel](${host.origin}/wheel)`);
    expect(found.content).not.toMatch(/alert|Buy a wheel|All rights/);
  });

  it("gives a page without an article as it is", async () => {
    at("/list", page("<title>Hours</title><ul><li>Monday 9 to 5</li><li>Tuesday closed</li></ul>"));
    expect(await load("/list")).toMatchObject({
      title: "Hours",
      content: expect.stringContaining("Tuesday closed"),
    });
  });

  it("reads the charset of the header and of the page", async () => {
    const latin = Buffer.from("<p>M\u00fchle</p>", "latin1");
    at("/header", page(latin, "text/html; charset=iso-8859-1"));
    at("/meta", page(Buffer.concat([Buffer.from("<meta charset=iso-8859-1>"), latin])));
    expect((await load("/header")).content).toBe("Mühle");
    expect((await load("/meta")).content).toBe("Mühle");
  });

  it("gives plain text and JSON as they stand", async () => {
    at("/notes/hours.txt", page("  <b>9 to 5</b>\n", "text/plain"));
    at("/data", page('{"a": 1}', "application/json"));
    expect(await load("/notes/hours.txt")).toMatchObject({ title: "hours.txt", content: "<b>9 to 5</b>" });
    expect((await load("/data")).content).toBe('{"a": 1}');
  });

  it("keeps the event loop free while a large page is read", async () => {
    at(
      "/large",
      page(`<body>${"<div><p>Some words about water and wheels.</p></div>".repeat(15_000)}</body>`),
    );
    let longest = 0;
    let last = performance.now();
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 5);
    const found = await load("/large").catch((error: unknown) => error);
    clearInterval(timer);
    expect(found).toBeDefined();
    expect(longest).toBeLessThan(1_000);
  });
});

describe("refusing", () => {
  it.each([
    ["ftp://mill.example/", "invalid"],
    ["file:///etc/passwd", "invalid"],
    ["mill", "invalid"],
    ["", "invalid"],
    [`https://mill.example/${"x".repeat(5_000)}`, "invalid"],
    ["http://127.0.0.1:1/", "forbidden"],
    ["http://169.254.169.254/latest/meta-data", "forbidden"],
    ["http://[::1]/", "forbidden"],
    ["http://localhost/", "forbidden"],
  ])("%s", async (address, code) => {
    await expect(open().load(address, signal())).rejects.toMatchObject({ code });
  });

  it("private addresses also for loaders of others, whose network may be this one", async () => {
    const services = createTestEgress(host.origin);
    for (const loaderEngine of ["firecrawl", "tavily", "external"] as const) {
      const settings = { loaderEngine, tavilyKey: "k", externalLoaderUrl: `${host.origin}/load` };
      for (const address of ["http://127.0.0.1/", "http://localhost/", "http://postgres/"]) {
        await expect(open(settings, services).load(address, signal())).rejects.toMatchObject({
          code: "forbidden",
        });
      }
    }
    expect(host.requests).toEqual([]);
    await services.close();
  });

  it("reads private addresses where ENABLE_RAG_LOCAL_WEB_FETCH allows it", async () => {
    const strict = createTestEgress(host.origin);
    at("/inside", page("inside", "text/plain"));
    const address = `${host.origin}/inside`;
    await expect(open({}, strict).load(address, signal())).rejects.toMatchObject({ code: "forbidden" });
    expect((await open({ localFetch: true }, strict).load(address, signal())).content).toBe("inside");
    await strict.close();
  });

  it("follows a redirect to a private address no further", async () => {
    at("/away", body("", { status: 302, headers: { location: "http://127.0.0.1:1/secret" } }));
    await expect(load("/away")).rejects.toMatchObject({ code: "forbidden" });
  });

  it("follows no redirect to a site that the list keeps out", async () => {
    at("/away", body("", { status: 302, headers: { location: "https://blocked.example/" } }));
    await expect(load("/away", { fetchFilter: ["!blocked.example"] })).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("blocked.example"),
    });
    await expect(load("/", { fetchFilter: ["mill.example"] })).rejects.toMatchObject({ code: "forbidden" });
  });

  it("says where a page has gone when redirects are not followed", async () => {
    at("/old", body("", { status: 301, headers: { location: "/new" } }));
    const still = createTestEgress(host.origin, { allowedOrigins: [host.origin] });
    await expect(open({}, still).load(`${host.origin}/old`, signal())).rejects.toMatchObject({
      code: "upstream",
      message: expect.stringContaining(`${host.origin}/new`),
    });
    await still.close();
  });

  it("what is no text, is empty, too large, missing or silent", async () => {
    at("/picture", page("PNG", "image/png"));
    at("/empty", page("<html><body><script>1</script></body></html>"));
    at("/huge", page("x".repeat(20_000), "text/plain"));
    at("/gone", errorPage(404));
    at("/broken", errorPage(500));
    at("/silent", silence());
    const tries = [
      ["/picture", "invalid", /type image\/png/],
      ["/empty", "invalid", /no text/],
      ["/huge", "upstream", /larger than allowed/],
      ["/gone", "upstream", /no such page/],
      ["/broken", "upstream", /status 500/],
      ["/silent", "timeout", /in time/],
    ] as const;
    for (const [path, code, message] of tries) {
      await expect(load(path, { maxBytes: 10_000, loaderTimeout: 0.1 })).rejects.toMatchObject({
        code,
        message: expect.stringMatching(message),
      });
    }
  });
});

describe("robots.txt", () => {
  it("keeps out what the site keeps from programs, and is asked for once", async () => {
    at(
      "/robots.txt",
      page("User-agent: MillraceBot\nDisallow: /closed\n\nUser-agent: *\nDisallow: /", "text/plain"),
    );
    at("/open", page("open", "text/plain"));
    const opened = open();
    await expect(opened.load(`${host.origin}/closed/a`, signal())).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("robots.txt"),
    });
    expect((await opened.load(`${host.origin}/open`, signal())).content).toBe("open");
    expect(host.requests.filter(({ path }) => path === "/robots.txt")).toHaveLength(1);
    expect(host.requests[0]?.headers["user-agent"]).toBe("MillraceBot/1.0");
  });

  it("closes a site that cannot say, and is not asked where it does not count", async () => {
    at("/robots.txt", errorPage(503));
    at("/open", page("open", "text/plain"));
    await expect(load("/open")).rejects.toMatchObject({ code: "upstream" });
    expect((await load("/open", { respectRobots: false })).content).toBe("open");
  });
});

describe("cache", () => {
  it("keeps a page for a short time", async () => {
    at("/page", page("words", "text/plain"));
    const opened = open();
    await opened.load(`${host.origin}/page`, signal());
    await opened.load(`${host.origin}/page#part`, signal());
    expect(host.requests.filter(({ path }) => path === "/page")).toHaveLength(1);
    const uncached = open({ cacheSeconds: 0 });
    await uncached.load(`${host.origin}/page`, signal());
    await uncached.load(`${host.origin}/page`, signal());
    expect(host.requests.filter(({ path }) => path === "/page")).toHaveLength(3);
  });
});

describe("loaders of others", () => {
  const address = "https://8.8.8.8/mill";

  it.each([
    {
      engine: "firecrawl",
      changes: { firecrawlKey: "k" },
      path: "/v2/scrape",
      sent: { url: address, formats: ["markdown"], timeout: 30_000 },
      answer: {
        success: true,
        data: { markdown: "# Mill", metadata: { title: "The mill", url: `${address}/` } },
      },
      finalUrl: `${address}/`,
    },
    {
      engine: "tavily",
      changes: { tavilyKey: "k" },
      path: "/extract",
      sent: { urls: [address], extract_depth: "basic", format: "markdown" },
      answer: { results: [{ url: address, title: "The mill", raw_content: "# Mill" }], failed_results: [] },
      finalUrl: address,
    },
    {
      engine: "external",
      changes: { externalLoaderKey: "k" },
      path: "/load",
      sent: { urls: [address] },
      answer: [{ page_content: "# Mill", metadata: { source: address, title: "The mill" } }],
      finalUrl: address,
    },
  ] as const)("$engine is asked as documented", async ({ engine, changes, path, sent, answer, finalUrl }) => {
    host.always(() => true, json(answer));
    const settings = { loaderEngine: engine, externalLoaderUrl: `${host.origin}/load`, ...changes } as const;
    const found = await open(settings).load(address, signal());
    expect(found).toMatchObject({ url: address, finalUrl, title: "The mill", content: "# Mill" });
    expect(host.requests).toHaveLength(1);
    expect(host.requests[0]).toMatchObject({ method: "POST", path, body: sent });
    expect(host.requests[0]?.headers["authorization"]).toBe("Bearer k");
  });

  it("say that a page could not be loaded", async () => {
    host.always(() => true, json({ results: [], failed_results: [{ url: address, error: "x" }] }));
    await expect(
      open({ loaderEngine: "tavily", tavilyKey: "k" }).load(address, signal()),
    ).rejects.toMatchObject({
      code: "upstream",
      message: expect.stringContaining("could not load 8.8.8.8"),
    });
  });
});
