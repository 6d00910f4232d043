import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Counts, type LoadOptions, quantile, startLoad } from "./client.ts";
import { type Mock, type Model, startMock, tokensOf } from "./mock.ts";

let mock: Mock;
beforeAll(async () => {
  mock = await startMock();
});
afterAll(() => mock.close());

describe("mock and client", () => {
  it("counts every token of bursts", async () => {
    const counts = await loadOnce({ ...ask("burst-200"), connections: 3 });
    expect(counts).toMatchObject({ answers: 3, tokens: 600, incomplete: 0, failures: [] });
    expect(counts.first).toHaveLength(3);
  });

  it("stamps paced tokens and spreads them over time", async () => {
    const counts = await loadOnce({ ...ask("paced-100"), connections: 2 });
    expect(counts).toMatchObject({ answers: 2, tokens: 200, incomplete: 0 });
    expect(counts.relay).toHaveLength(200);
    expect(quantile(counts.relay, 0.5)).toBeGreaterThan(0);
    expect(quantile(counts.whole, 0)).toBeGreaterThan(1900);
  });

  it("reads whole answers by their length", async () => {
    const counts = await loadOnce({ ...ask("json"), connections: 4 });
    expect(counts).toMatchObject({ answers: 4, tokens: 0, incomplete: 0, failures: [] });
  });

  it("notices an answer that is short of tokens", async () => {
    const counts = await loadOnce({ ...ask("burst-5"), tokens: 6, connections: 1 });
    expect(counts.incomplete).toBe(1);
  });

  it("notices refusals and broken connections", async () => {
    const server = createServer((request, response) => {
      if (request.headers["x-break"]) {
        request.socket.destroy();
      } else {
        response.writeHead(503).end("busy");
      }
    });
    await new Promise<void>((resolve) => server.listen(0, resolve));
    const { port } = server.address() as AddressInfo;
    const refused = await loadOnce({ port, request: get(""), connections: 1, tokens: 0 });
    expect(refused.failures[0]).toMatch(/^HTTP\/1.1 503[^]*busy/);
    const broken = startLoad({ port, request: get("x-break: 1\r\n"), connections: 1, tokens: 0 });
    const seen: string[] = [];
    await expect.poll(() => seen.push(...broken.take().failures)).toBe(1);
    expect(seen[0]).toContain("closed");
    broken.stop();
    server.close();
  });
});

describe("quantile", () => {
  it.each([
    [0.5, 6],
    [0.99, 10],
    [1, 10],
    [0, 1],
  ])("finds the value below which a share of %d lies", (share, value) => {
    expect(quantile([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], share)).toBe(value);
  });
});

async function loadOnce(options: LoadOptions): Promise<Counts> {
  const load = startLoad(options);
  await load.drain();
  load.stop();
  return load.take();
}

function ask(model: Model): Omit<LoadOptions, "connections"> {
  const body = JSON.stringify({ model });
  const head = `POST /v1/chat/completions HTTP/1.1\r\ncontent-length: ${body.length}\r\n\r\n`;
  return { port: mock.port, request: Buffer.from(head + body), tokens: tokensOf(model) };
}

function get(headers: string): Buffer {
  return Buffer.from(`GET / HTTP/1.1\r\nhost: x\r\n${headers}\r\n`);
}
