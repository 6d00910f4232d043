import type { IncomingMessage } from "node:http";
import { expect, it } from "vitest";
import { checkReaders, createReaders } from "./readers.ts";

const from = (remoteAddress: string, headers: Record<string, string> = {}) =>
  ({ headers, socket: { remoteAddress } }) as unknown as IncomingMessage;

it("lets listed addresses in that connect directly, whichever way they are written", () => {
  const mayRead = createReaders(["127.0.0.1", "10.0.0.0/8", "fd00::/8"]);
  const peers = ["127.0.0.1", "::ffff:10.1.2.3", "fd12::1", "11.0.0.1", "::1", ""];
  expect(peers.map((peer) => mayRead(from(peer)))).toEqual([true, true, true, false, false, false]);
  expect(mayRead(from("127.0.0.1", { "x-forwarded-for": "127.0.0.1" }))).toBe(false);
  expect(mayRead(from("127.0.0.1", { authorization: "Bearer of-something-else" }))).toBe(false);
});

it.each(["10.0.0.0/33", "scraper", "token:short", "10.0.0"])("refuses %s as a setting", (entry) => {
  expect(checkReaders([entry])).toBeTypeOf("string");
});
