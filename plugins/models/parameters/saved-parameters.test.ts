import { expect, it } from "vitest";
import { fillSaved } from "./saved-parameters.ts";

const user = { role: "user", content: "U" };
const body = { model: "m", messages: [user] };

it("gives the very same object when there is nothing to fill in", () => {
  expect(fillSaved(body, {})).toBe(body);
  expect(
    fillSaved(body, { stream_response: false, function_calling: "native", model_controls: [], num_ctx: 1 }),
  ).toBe(body);
  const full = { ...body, temperature: 0, max_completion_tokens: 5 };
  expect(fillSaved(full, { temperature: 1, max_tokens: 9 })).toBe(full);
});

it.each([
  ["fills what was left out", {}, { temperature: 1, seed: 0 }, { temperature: 1, seed: 0 }],
  ["keeps what was sent", { seed: 7 }, { seed: 1 }, { seed: 7 }],
  ["counts null as left out", { seed: null }, { seed: 1 }, { seed: 1 }],
  [
    "reads custom values",
    {},
    { custom_params: { a: '{"b":1}', c: "text", d: 2 } },
    { a: { b: 1 }, c: "text", d: 2 },
  ],
])("%s", (_name, request, saved, expected) => {
  expect(fillSaved({ ...body, ...request }, saved)).toEqual({ ...body, ...expected });
});

it("puts the saved system prompt ahead of the caller's", () => {
  const saved = { system: "S" };
  expect(fillSaved(body, saved).messages).toEqual([{ role: "system", content: "S" }, user]);
  const own = { ...body, messages: [{ role: "system", content: "own" }, user] };
  expect(fillSaved(own, saved).messages).toEqual([{ role: "system", content: "S\nown" }, user]);
});
