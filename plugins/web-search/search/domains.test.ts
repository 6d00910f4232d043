import { describe, expect, it } from "vitest";
import { allowsHost } from "./domains.ts";

const allows = (address: string, ...list: string[]) => allowsHost(new URL(address), list);

describe("allowsHost", () => {
  it.each([
    ["https://mill.example/", []],
    ["https://mill.example/", ["mill.example"]],
    ["https://www.mill.example/wheel", ["mill.example"]],
    ["https://mill.example./", ["MILL.example "]],
    ["https://mill.example/", ["https://mill.example/wheel"]],
    ["https://a.mill.example/", ["*.mill.example"]],
    ["https://mill.example/", ["!river.example"]],
    ["https://mill.example/", ["", "!"]],
  ])("lets %s through %j", (address, list) => expect(allows(address, ...list)).toBe(true));

  it.each([
    ["https://river.example/", ["mill.example"]],
    ["https://notmill.example/", ["mill.example"]],
    ["https://mill.example.evil.example/", ["mill.example"]],
    ["https://mill.example/", ["!mill.example"]],
    ["https://deep.mill.example/", ["!mill.example"]],
    ["https://bad.mill.example/", ["mill.example", "!bad.mill.example"]],
    ["https://mill.example./", ["!mill.example"]],
  ])("keeps %s out by %j", (address, list) => expect(allows(address, ...list)).toBe(false));
});
