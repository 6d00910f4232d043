import { describe, expect, test } from "vitest";
import { createMemoryStore } from "./memory-store.fixture.ts";
import { createRegistry } from "./registry.ts";
import { bool, int, text } from "./variable.ts";

describe("declaring", () => {
  test("the same variable twice is fine for the same object only, and both owners are named", () => {
    const registry = createRegistry({ POLL: "4" });
    const shared = int("POLL", 1, { text: "Seconds" });
    expect(registry.declare("one", { poll: shared }).poll).toBe(4);
    expect(registry.declare("two", { interval: shared }).interval).toBe(4);
    expect(() => registry.declare("three", { poll: int("POLL", 1, { text: "Seconds" }) })).toThrow(
      "POLL is declared twice, by one and by three.",
    );
    expect(registry.declarations()).toEqual([{ owner: "one", variable: shared }]);
  });

  test("a key belongs to one variable", () => {
    const registry = createRegistry({});
    registry.declare("one", { a: bool("A", true, { text: "A", key: "x.y", persisted: true }) });
    expect(() =>
      registry.declare("two", { b: bool("B", true, { text: "B", key: "x.y", persisted: true }) }),
    ).toThrow("The key x.y is declared twice, by one and by two.");
  });

  test("a persisted variable comes too late once the stored values were read", async () => {
    const registry = createRegistry({});
    await registry.attach(createMemoryStore().store);
    expect(registry.declare("late", { a: bool("A", true, { text: "A" }) }).a).toBe(true);
    expect(() =>
      registry.declare("late", { b: bool("B", true, { text: "B", key: "b", persisted: true }) }),
    ).toThrow("B of late is declared after the stored values were read.");
    await expect(registry.attach(createMemoryStore().store)).rejects.toThrow("already has its store");
  });

  test("a computed default differs per registry and gives way to the environment", () => {
    let count = 0;
    const id = text("ID", "", { text: "Id", computed: { shown: "a number", from: () => `id-${count++}` } });
    const first = createRegistry({}).declare("a", { id });
    expect([first.id, first.id]).toEqual(["id-0", "id-0"]);
    expect(createRegistry({}).declare("a", { id }).id).toBe("id-1");
    expect(createRegistry({ ID: "own" }).declare("a", { id }).id).toBe("own");
  });
});
