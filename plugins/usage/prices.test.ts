import { expect, test } from "vitest";
import type { ResolvedModel } from "#plugins/models/service.ts";
import { addAmounts, readPrices } from "./prices.ts";

const call = (model_id: string, [input, cached, output]: [number, number, number]) => ({
  model_id,
  input_tokens: input,
  cached_tokens: cached,
  output_tokens: output,
});

test("kept tokens have a price of their own, and currencies are not mixed", () => {
  const prices = new Map([
    ["a", { input: 2, cached: 0.5, output: 10, currency: "USD" }],
    ["b", { input: 1, cached: 1, output: 1, currency: "EUR" }],
  ]);
  const calls = [
    call("a", [1_000_000, 400_000, 100_000]),
    call("b", [500_000, 500_000, 0]),
    call("unpriced", [9, 9, 9]),
  ];
  expect(addAmounts(calls, prices)).toEqual([
    { currency: "USD", amount: 0.6 * 2 + 0.4 * 0.5 + 1 },
    { currency: "EUR", amount: 0.5 },
  ]);
});

test("a record without prices has those of the model it is made of, and nonsense has none", async () => {
  const model = (base: string, meta: object) => ({ base: { id: base }, meta }) as unknown as ResolvedModel;
  const known: Record<string, ResolvedModel> = {
    base: model("base", { prices: { input: 1, output: 2 } }),
    preset: model("base", {}),
    odd: model("odd", { prices: { input: "much" } }),
    empty: model("empty", { prices: { currency: "EUR" } }),
    embedder: model("embedder", { prices: { input: 0.5, currency: "" } }),
  };
  const prices = await readPrices(
    async (id) => known[id],
    ["base", "preset", "odd", "empty", "embedder", "gone"],
  );
  expect([...prices]).toEqual([
    ["base", { input: 1, cached: 1, output: 2, currency: "USD" }],
    ["preset", { input: 1, cached: 1, output: 2, currency: "USD" }],
    ["embedder", { input: 0.5, cached: 0.5, output: 0, currency: "USD" }],
  ]);
});
