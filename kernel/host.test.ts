import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "#storage/database.ts";
import { openTestDatabase } from "#storage/testing.ts";
import { createGathered } from "./gathered.ts";
import { type HostOptions, setUpPlugins } from "./host.ts";
import { createLogger } from "./log.ts";
import { BootError } from "./order.ts";
import { type AnyPlugin, definePlugin } from "./plugin.ts";
import { defineService, defineSlot, fill, optional, provide, type Slot } from "./service.ts";

let database: Database;

beforeAll(async () => {
  database = await openTestDatabase();
});

afterAll(() => database?.close());

const lamp = defineService<{ watt: number }>("lamp");
const shades = defineSlot<string>("lamp.shades");

function host(plugins: readonly AnyPlugin[], options: Partial<HostOptions> = {}) {
  return setUpPlugins({
    plugins,
    foreign: new Set(),
    services: new Map(),
    gathered: createGathered(),
    database,
    configs: new Map(),
    log: createLogger({ level: "CRITICAL", format: "" }),
    signal: new AbortController().signal,
    ...options,
  });
}

test("services reach those who use them, and an optional one may be missing", async () => {
  const seen: unknown[] = [];
  const owner = definePlugin({
    id: "owner",
    title: "Owner",
    provides: [lamp],
    setup: () => ({ services: [provide(lamp, { watt: 5 })] }),
  });
  const user = definePlugin({
    id: "user",
    title: "User",
    uses: { lamp, absent: optional(defineService("absent")) },
    setup({ use }) {
      seen.push(use.lamp.watt, use.absent);
      return {};
    },
  });
  await host([owner, user]);
  expect(seen).toEqual([5, undefined]);
});

test("a slot holds what all plugins put in, in order, and cannot be read before it is complete", async () => {
  let slot: Slot<string> | undefined;
  const owner = definePlugin({
    id: "owner",
    title: "Owner",
    uses: { shades },
    setup({ use }) {
      slot = use.shades;
      expect(() => use.shades.list()).toThrow(/plugin owner reads? the slot lamp.shades before/);
      return {};
    },
  });
  const red = definePlugin({
    id: "red",
    title: "Red",
    setup: () => ({ fills: [fill(shades, "red"), fill(shades, "rose")] }),
  });
  const blue = definePlugin({ id: "blue", title: "Blue", setup: () => ({ fills: [fill(shades, "blue")] }) });
  await host([owner, red, blue]);
  expect(slot?.list()).toEqual(["red", "rose", "blue"]);
});

test("an empty slot is an empty list", async () => {
  let slot: Slot<string> | undefined;
  const owner = definePlugin({
    id: "owner",
    title: "Owner",
    uses: { shades },
    setup: ({ use }) => ((slot = use.shades), {}),
  });
  await host([owner]);
  expect(slot?.list()).toEqual([]);
});

test("starts in the order of setup and stops in reverse, past one that fails to stop", async () => {
  const steps: string[] = [];
  const step = (id: string) =>
    definePlugin({
      id,
      title: id,
      setup() {
        steps.push(`set up ${id}`);
        return {
          start: () => void steps.push(`start ${id}`),
          stop() {
            steps.push(`stop ${id}`);
            if (id === "two") {
              throw new Error("stuck");
            }
          },
        };
      },
    });
  const running = await host([step("one"), step("two"), step("three")]);
  await running.start();
  await running.stop();
  const each = (verb: string, ...ids: string[]) => ids.map((id) => `${verb} ${id}`);
  expect(steps).toEqual([
    ...each("set up", "one", "two", "three"),
    ...each("start", "one", "two", "three"),
    ...each("stop", "three", "two", "one"),
  ]);
});

test("a service that is promised but not handed over is told", async () => {
  const forgetful = definePlugin({ id: "forgetful", title: "F", provides: [lamp], setup: () => ({}) });
  await expect(host([forgetful])).rejects.toThrow(BootError);
  await expect(host([forgetful])).rejects.toThrow(/forgetful.*lamp/);
});

test("a foreign plugin that fails is left out with all it would have given; the project's own stops the start", async () => {
  const fails = definePlugin({
    id: "fails",
    title: "Fails",
    setup(): never {
      throw new Error("burnt out");
    },
  });
  const works = definePlugin({ id: "works", title: "Works", setup: () => ({}) });
  const gathered = createGathered();
  await host([fails, works], { foreign: new Set<AnyPlugin>([fails]), gathered });
  expect(gathered.plugins.map(({ plugin }) => plugin.id)).toEqual(["works"]);
  await expect(host([fails, works])).rejects.toThrow("The plugin fails could not be set up: burnt out");
});
