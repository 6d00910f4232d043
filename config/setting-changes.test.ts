import { describe, expect, test } from "vitest";
import { createMemoryStore } from "./memory-store.fixture.ts";
import { createRegistry, type SettingChange, SettingsChanged } from "./registry.ts";
import { int, text } from "./variable.ts";

const variables = {
  greeting: text("GREETING", "Hello", { text: "Greeting", key: "greeting", persisted: true }),
  count: int("COUNT", 1, { text: "Count", key: "count", persisted: true, min: 0, max: 9 }),
  token: text("TOKEN", "", { text: "Token", key: "token", persisted: true, secret: true }),
};

async function start(environment: Record<string, string> = {}, memory = createMemoryStore()) {
  const registry = createRegistry(environment, { warn: () => {} });
  const config = registry.declare("sample", variables);
  await registry.attach(memory.store);
  const recorded: { changes: readonly SettingChange[]; by: string | null }[] = [];
  registry.recordChanges(async (changes, { by }) => void recorded.push({ changes, by }));
  const versionOf = (name: string) => registry.describe().find((each) => each.name === name)?.version;
  return { registry, config, recorded, versionOf, memory };
}

describe.each([
  ["stored", {}],
  ["held for the session", { ENABLE_PERSISTENT_CONFIG: "false" }],
])("changes that are %s", (_, environment) => {
  test("set and forget in one go, and are recorded without secrets", async () => {
    const { registry, config, recorded } = await start(environment);
    await registry.set({ COUNT: 2 }, "ann");
    await registry.change(
      [
        { name: "COUNT", reset: true },
        { name: "GREETING", value: "Ahoy" },
        { name: "TOKEN", value: "not to be seen" },
      ],
      "bob",
    );
    expect(config).toMatchObject({ count: 1, greeting: "Ahoy", token: "not to be seen" });
    const names = recorded[1]?.changes.map(({ name, before, after }) => [name, before.value, after.value]);
    expect(names).toEqual([
      ["GREETING", "Hello", "Ahoy"],
      ["TOKEN", "", "********"],
      ["COUNT", 2, 1],
    ]);
    expect(recorded.map(({ by }) => by)).toEqual(["ann", "bob"]);
  });

  test("are refused as a whole when somebody else changed one of them since it was seen", async () => {
    const { registry, config, versionOf } = await start(environment);
    const seen = versionOf("GREETING");
    await registry.set({ GREETING: "first" }, "ann");
    const late = registry.change(
      [
        { name: "GREETING", value: "second", seen },
        { name: "COUNT", value: 5, seen: versionOf("COUNT") },
      ],
      "bob",
    );
    await expect(late).rejects.toThrow(SettingsChanged);
    await expect(late).rejects.toMatchObject({ keys: ["greeting"] });
    expect(config).toMatchObject({ greeting: "first", count: 1 });
    await registry.change([{ name: "GREETING", value: "second", seen: versionOf("GREETING") }], "bob");
    expect(config.greeting).toBe("second");
  });

  test("are not made when they cannot be recorded", async () => {
    const { registry, config } = await start(environment);
    registry.recordChanges(() => Promise.reject(new Error("disk full")));
    await expect(registry.set({ COUNT: 3 }, "ann")).rejects.toThrow("disk full");
    expect(config.count).toBe(1);
  });
});

test("the same value as somebody else's is no conflict", async () => {
  const { registry, recorded } = await start();
  await registry.set({ COUNT: 3 }, "ann");
  await registry.change([{ name: "COUNT", value: 3, seen: 0 }], "bob");
  expect(recorded).toHaveLength(1);
});

test("a change of another process is seen before this one's is decided", async () => {
  const one = await start();
  const two = await start({}, one.memory);
  const seen = two.versionOf("COUNT");
  await one.registry.set({ COUNT: 3 }, "ann");
  await expect(two.registry.change([{ name: "COUNT", value: 4, seen }], "bob")).rejects.toThrow(
    SettingsChanged,
  );
  expect(two.config.count).toBe(3);
});

test("a preview says what would change and what is wrong", async () => {
  const { registry } = await start();
  expect(registry.preview("COUNT", "4")).toEqual({ isChange: true, value: 4 });
  expect(registry.preview("COUNT", 1)).toEqual({ isChange: false, value: 1 });
  expect(registry.preview("COUNT", 10)).toMatchObject({ problem: expect.stringContaining("COUNT") });
  expect(registry.preview("TOKEN", "secret")).toEqual({ isChange: true, value: "********" });
  expect(registry.preview("NOTHING", 1)).toMatchObject({ problem: "NOTHING is not a known variable." });
});
