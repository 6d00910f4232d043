import { describe, expect, test } from "vitest";
import { BootError, orderPlugins } from "./order.ts";
import { type AnyPlugin, definePlugin, type Uses } from "./plugin.ts";
import { defineService, defineSlot, optional } from "./service.ts";

const a = defineService<1>("a");
const b = defineService<1>("b");
const c = defineService<1>("c");
const kernel = defineService<1>("kernel.clock");
const slot = defineSlot<1>("a.slot");

function plugin(id: string, provides: AnyPlugin["provides"] = [], uses: Uses = {}): AnyPlugin {
  return definePlugin({ id, title: id, provides, uses, setup: () => ({}) });
}

const order = (...plugins: AnyPlugin[]) => orderPlugins(plugins, new Set([kernel.id])).map(({ id }) => id);

function refusalOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(BootError);
    return (error as BootError).message;
  }
  throw new Error("accepted");
}

describe("plugins come after what they use", () => {
  const first = plugin("first", [a]);
  const second = plugin("second", [b], { a });
  const third = plugin("third", [c], { b, kernel });

  test.each([[[first, second, third]], [[third, second, first]], [[second, third, first]]])(
    "whatever the order they are listed in",
    (plugins) => {
      expect(order(...plugins)).toEqual(["first", "second", "third"]);
    },
  );

  test("and keep the listed order where nothing else decides", () => {
    expect(order(plugin("z"), plugin("m"), plugin("a"))).toEqual(["z", "m", "a"]);
  });

  test("optional services count when they are there, and are not missed otherwise", () => {
    const eager = plugin("eager", [], { a: optional(a) });
    expect(order(eager, first)).toEqual(["first", "eager"]);
    expect(order(eager)).toEqual(["eager"]);
  });

  test("a slot ties nobody to its owner", () => {
    expect(order(plugin("reader", [a], { slot }), plugin("filler", [], { a }))).toEqual(["reader", "filler"]);
  });
});

describe("a deployment that cannot work is refused", () => {
  test("a circle is told from end to end", () => {
    const message = refusalOf(() =>
      order(plugin("one", [a], { c }), plugin("two", [b], { a }), plugin("three", [c], { b })),
    );
    expect(message).toContain("one → three → two → one");
  });

  test("an optional service can close a circle too", () => {
    expect(
      refusalOf(() => order(plugin("one", [a], { b: optional(b) }), plugin("two", [b], { a }))),
    ).toContain("circle");
  });

  test("a plugin that uses what it provides is a circle of its own", () => {
    expect(refusalOf(() => order(plugin("self", [a], { a })))).toContain("self → self");
  });

  test("a missing service is told with who needs it", () => {
    expect(refusalOf(() => order(plugin("lonely", [], { a })))).toMatch(/lonely needs the service a\b/);
  });

  test("two providers of one service are both named", () => {
    expect(refusalOf(() => order(plugin("one", [a]), plugin("two", [a])))).toMatch(
      /a is provided by both one and two/,
    );
  });

  test("what the kernel provides, no plugin can", () => {
    expect(refusalOf(() => order(plugin("clock", [kernel])))).toMatch(/both kernel and clock/);
  });

  test("two plugins with one id are refused", () => {
    expect(refusalOf(() => order(plugin("same"), plugin("same")))).toContain("Two plugins have the id same");
  });
});
