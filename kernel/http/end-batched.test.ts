import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { endBatched } from "./end-batched.ts";

const count = 20;

/** A server with that many requests that nobody has answered, and what their clients get. */
async function openRequests() {
  const responses: ServerResponse[] = [];
  const all = Promise.withResolvers<void>();
  const server = createServer((_, response) => {
    if (responses.push(response) === count) {
      all.resolve();
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const texts = Promise.all(Array.from({ length: count }, async () => (await fetch(url)).text()));
  await all.promise;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { responses, texts, close };
}

it("ends the answers of one turn at its end, and sixteen of them at once", async () => {
  const { responses, texts, close } = await openRequests();
  responses.forEach((response, at) => endBatched(response, `answer ${at}`));
  expect(responses.filter(({ writableEnded }) => writableEnded)).toHaveLength(16);
  await new Promise((resolve) => setImmediate(resolve));
  expect(responses.every(({ writableEnded }) => writableEnded)).toBe(true);
  expect(new Set(await texts)).toEqual(new Set(responses.map((_, at) => `answer ${at}`)));
  close();
});

it("ends the others when one of their clients has left", async () => {
  const { responses, texts, close } = await openRequests();
  const [first, ...others] = responses;
  endBatched(first as ServerResponse, "nobody reads it");
  first?.destroy();
  others.forEach((response) => endBatched(response, undefined));
  await expect(texts).rejects.toThrow("fetch failed");
  await expect.poll(() => others.every(({ writableFinished }) => writableFinished)).toBe(true);
  close();
});
