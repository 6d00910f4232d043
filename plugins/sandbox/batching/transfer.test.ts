import ivm from "isolated-vm";
import { afterEach, beforeEach, expect, test } from "vitest";
import { applyCopied } from "./transfer.ts";

let isolate: ivm.Isolate;
let context: ivm.Context;

beforeEach(() => {
  isolate = new ivm.Isolate({ memoryLimit: 32 });
  context = isolate.createContextSync();
});

afterEach(() => isolate.dispose());

const wayOf = (source: string) => context.evalSync(source, { reference: true }) as ivm.Reference;

test("texts arrive as they were, both ways", () => {
  const back = wayOf("(function (texts) { return [texts[0], texts[1]]; })");
  for (const text of ["", "a\nb", "é", "\u{1f30a} and more", "\ud800", "\0", "long ".repeat(100_000)]) {
    expect(applyCopied(back, [text, 7], 1000)).toEqual([text, 7]);
  }
});

test("without a text there is no argument", () => {
  expect(applyCopied(wayOf("(function (...all) { return [`${all.length}`]; })"), undefined, 1000)).toEqual([
    "0",
  ]);
});

test("what has crossed does not wait outside of the heap for a full collection", () => {
  const text = "x".repeat(50_000);
  const length = wayOf("(function (texts) { return [`${texts[0].length}`]; })");
  const before = isolate.getHeapStatisticsSync().externally_allocated_size;
  for (let call = 0; call < 200; call++) {
    expect(applyCopied(length, [text], 1000)).toEqual(["50000"]);
  }
  expect(isolate.getHeapStatisticsSync().externally_allocated_size - before).toBeLessThan(text.length);
});

test("a text that takes too long is an error", () => {
  const endless = wayOf("(function () { for (;;); })");
  expect(() => applyCopied(endless, [""], 20)).toThrow("Script execution timed out.");
});
