import { expect, expectTypeOf, test } from "vitest";
import { definePlugin, type Resolved } from "./plugin.ts";
import { defineService, defineSlot, fill, optional, provide, type Slot } from "./service.ts";

interface Clock {
  now(): number;
}

const clock = defineService<Clock>("clock");
const bells = defineSlot<() => string>("clock.bells");

test("references say what they name at run time", () => {
  expect([clock, bells, optional(clock)]).toEqual([
    { kind: "service", id: "clock" },
    { kind: "slot", id: "clock.bells" },
    { kind: "optional", ref: clock },
  ]);
  const ring = () => "ding";
  expect(fill(bells, ring)).toEqual({ slot: bells, value: ring });
});

test("what a plugin uses arrives with its type", () => {
  const uses = { clock, maybe: optional(clock), bells };
  expectTypeOf<Resolved<typeof uses>>().toEqualTypeOf<{
    readonly clock: Clock;
    readonly maybe: Clock | undefined;
    readonly bells: Slot<() => string>;
  }>();
});

test("the checker refuses what does not fit", () => {
  // @ts-expect-error a clock has to tell the time
  expect(provide(clock, {}).ref).toBe(clock);
  // @ts-expect-error a bell rings with a text
  expect(fill(bells, () => 1).slot).toBe(bells);
  const plugin = definePlugin({
    id: "x",
    title: "X",
    uses: { maybe: optional(clock) },
    // @ts-expect-error an optional service may be missing
    setup: ({ use }) => ({ start: () => void use.maybe.now() }),
  });
  expect(plugin.id).toBe("x");
});
