import { expect, it } from "vitest";
import { StoredTerminal, toTerminal } from "../connections/schema.ts";
import { proxyBase, readPath, toAddress } from "./address.ts";

const terminal = toTerminal(StoredTerminal.parse({ id: "box", url: "http://box.test:9000/base/" }));
const sent = (rest: string) => {
  const { text, search } = readPath(`${proxyBase}box/${rest}`, "box");
  return toAddress(terminal, text, search).href;
};

it.each([
  ["files/list?path=/etc/../tmp&x=a%20b", "http://box.test:9000/base/files/list?path=/etc/../tmp&x=a%20b"],
  ["files/a%20b%3Fc", "http://box.test:9000/base/files/a%20b%3Fc"],
  ["proxy/8000/", "http://box.test:9000/base/proxy/8000/"],
  ["100%25", "http://box.test:9000/base/100%25"],
  ["a:b@c", "http://box.test:9000/base/a%3Ab%40c"],
  ["x?y=1?z=2", "http://box.test:9000/base/x?y=1?z=2"],
])("passes %s on below the server's address", (rest, address) => {
  expect(sent(rest)).toBe(address);
});

it.each([
  "..",
  "../secret",
  "a/../../b",
  "./a",
  "%2e%2e/secret",
  "%2E./secret",
  ".%2e/secret",
  "%252e%252e/secret",
  "%25252e%25252e/secret",
  "a%2f..%2fb",
  "a%2Fb",
  "a%252Fb",
  "a%5c..%5cb",
  "a\\b",
  "/evil.test/x",
  "//evil.test/x",
  "http://evil.test/x",
  "https:%2f%2fevil.test",
  "a//b",
  "a%00b",
  "a%0d%0ahost:%20evil",
  "%ff",
  "",
])("refuses %s", (rest) => {
  expect(() => sent(rest)).toThrow(/cannot be passed on/);
});

it("refuses a path whose server is another one than the route found", () => {
  expect(() => readPath(`${proxyBase}box/../other/x`, "other")).toThrow();
  expect(() => readPath("/api/v1/auths/", "box")).toThrow();
});
