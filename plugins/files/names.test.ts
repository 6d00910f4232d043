import { describe, expect, it } from "vitest";
import {
  extensionOf,
  requireAllowedExtension,
  toDisplayName,
  toDisposition,
  toLikePattern,
} from "./names.ts";

describe("display names", () => {
  it.each([
    ["report.pdf", "report.pdf"],
    ["../../etc/passwd", "passwd"],
    ["/etc/passwd", "passwd"],
    ["..\\..\\x.txt", "x.txt"],
    ["C:\\Windows\\x.txt", "x.txt"],
    ["C:x.txt", "x.txt"],
    ["a\u0000b.txt", "ab.txt"],
    ["a\r\nset-cookie: x", "aset-cookie: x"],
    ["exe\u202etxt.exe", "exetxt.exe"],
    ["gru\u0308ße.txt", "grüße.txt"],
    ["\ud800.txt", "\ufffd.txt"],
    ["", "file"],
    ["..", "file"],
    ["a/", "file"],
    ["   ", "file"],
  ])("%j becomes %j", (sent, shown) => expect(toDisplayName(sent)).toBe(shown));

  it("keeps the ending of a name that is too long", () => {
    const name = toDisplayName(`${"ü".repeat(300)}.txt`);
    expect(name).toHaveLength(255);
    expect(name.endsWith("ü.txt")).toBe(true);
  });

  it("does not cut a character in half", () => {
    expect(toDisplayName(`${"🎈".repeat(200)}.txt`).isWellFormed()).toBe(true);
  });
});

describe("endings", () => {
  it.each([
    ["a.TXT", "txt"],
    ["a.tar.gz", "gz"],
    ["README", ""],
    [".env", ""],
  ])("of %j is %j", (name, ending) => expect(extensionOf(name)).toBe(ending));

  it("are all allowed when the list is empty, else only the listed ones", () => {
    expect(() => requireAllowedExtension("a.exe", [])).not.toThrow();
    expect(() => requireAllowedExtension("a.exe", [" "])).not.toThrow();
    expect(() => requireAllowedExtension("a.PDF", ["txt", " .pdf "])).not.toThrow();
    expect(() => requireAllowedExtension("a.exe", ["txt"])).toThrow("not allowed");
    expect(() => requireAllowedExtension("pdf", ["pdf"])).toThrow("without an ending");
  });
});

describe("content dispositions", () => {
  it.each([
    ["a b.txt", 'inline; filename="a b.txt"'],
    ['a"b\\c.txt', `inline; filename="a_b_c.txt"; filename*=UTF-8''a%22b%5Cc.txt`],
    ["grüße (1).txt", `inline; filename="gr__e (1).txt"; filename*=UTF-8''gr%C3%BC%C3%9Fe%20%281%29.txt`],
    ["100%.txt", `inline; filename="100_.txt"; filename*=UTF-8''100%25.txt`],
    ["it's*!.txt", `inline; filename="it's*!.txt"`],
  ])("of %j", (name, expected) => expect(toDisposition("inline", name)).toBe(expected));
});

describe("globs", () => {
  it.each([
    ["*.txt", "%.txt"],
    ["a?c", "a_c"],
    ["100%_\\", "100\\%\\_\\\\"],
    ["****", "%"],
    ["", ""],
  ])("%j becomes %j", (glob, pattern) => expect(toLikePattern(glob)).toBe(pattern));
});
