import { expect, it } from "vitest";
import { limits } from "../limits.ts";
import { keyOf } from "../host/source.ts";
import { createInlinePolicy } from "./inline-policy.ts";

const script = { id: "f", owner: "o", source: "export const inlet = (body) => body;" };
const key = keyOf(script);

function create() {
  const clock = { now: 1 };
  return { clock, tries: createInlinePolicy(() => clock.now) };
}

it("what is late again and again is left to a thread, and tried again later", () => {
  const { clock, tries } = create();
  tries.timedOut("f", key);
  expect(tries.allows(script)).toBe(true);
  tries.timedOut("f", key);
  expect(tries.allows(script)).toBe(false);
  clock.now += limits.inlinePauseMs + 1;
  expect(tries.allows(script)).toBe(true);
});

it("what is late now and then stays, however long it runs", () => {
  const { tries } = create();
  for (let late = 0; late < 100; late += 1) {
    tries.timedOut("f", key);
    for (let good = 0; good < limits.successesToForgive; good += 1) {
      tries.succeeded("f", key);
    }
  }
  expect(tries.allows(script)).toBe(true);
});

it("a late one soon after another is one too many", () => {
  const { tries } = create();
  tries.timedOut("f", key);
  for (let good = 0; good < limits.successesToForgive / 2 - 1; good += 1) {
    tries.succeeded("f", key);
  }
  tries.timedOut("f", key);
  expect(tries.allows(script)).toBe(false);
});

it("what waits is left at once; another source of the same name begins anew", () => {
  const { tries } = create();
  tries.exclude("f", key);
  expect(tries.allows(script)).toBe(false);
  expect(tries.allows({ ...script, source: "export const inlet = () => {};" })).toBe(true);
});
