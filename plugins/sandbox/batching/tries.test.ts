import { expect, it } from "vitest";
import { limits } from "../limits.ts";
import { keyOf } from "../host/source.ts";
import { createTries } from "./tries.ts";

const script = { id: "f", owner: "o", source: "export const inlet = (body) => body;" };
const key = keyOf(script);

function create() {
  const clock = { now: 1 };
  return { clock, tries: createTries(() => clock.now) };
}

it("what is late again and again is left to a thread, and tried again later", () => {
  const { clock, tries } = create();
  tries.late("f", key);
  expect(tries.takes(script)).toBe(true);
  tries.late("f", key);
  expect(tries.takes(script)).toBe(false);
  clock.now += limits.slowMs + 1;
  expect(tries.takes(script)).toBe(true);
});

it("what is late now and then stays, however long it runs", () => {
  const { tries } = create();
  for (let late = 0; late < 100; late += 1) {
    tries.late("f", key);
    for (let good = 0; good < limits.quickAmends; good += 1) {
      tries.good("f", key);
    }
  }
  expect(tries.takes(script)).toBe(true);
});

it("a late one soon after another is one too many", () => {
  const { tries } = create();
  tries.late("f", key);
  for (let good = 0; good < limits.quickAmends / 2 - 1; good += 1) {
    tries.good("f", key);
  }
  tries.late("f", key);
  expect(tries.takes(script)).toBe(false);
});

it("what waits is left at once; another source of the same name begins anew", () => {
  const { tries } = create();
  tries.leave("f", key);
  expect(tries.takes(script)).toBe(false);
  expect(tries.takes({ ...script, source: "export const inlet = () => {};" })).toBe(true);
});
