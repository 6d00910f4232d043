import { z } from "zod";
import type { ResolvedModel } from "#plugins/models/service.ts";

const Price = z.number().min(0).nullish();

/** `meta.prices` of a model record: what a million tokens cost. A price that is left out is none. */
const Prices = z
  .object({
    input: Price,
    output: Price,
    /** Of input tokens that the provider had kept; the price of input when left out. */
    cached: Price,
    currency: z.string().trim().max(12).nullish(),
  })
  .refine(({ input, output }) => typeof input === "number" || typeof output === "number")
  .transform(({ input, output, cached, currency }) => ({
    input: input ?? 0,
    output: output ?? 0,
    cached: cached ?? input ?? 0,
    currency: currency || "USD",
  }));

export type Prices = z.output<typeof Prices>;

/** Prices by the ids that callers name; models without prices are left out. */
export type PriceList = ReadonlyMap<string, Prices>;

/** An amount of money. */
export interface Amount {
  readonly currency: string;
  readonly amount: number;
}

interface Tokens {
  readonly model_id: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_tokens: number;
}

type Resolve = (id: string) => Promise<ResolvedModel | undefined>;

/** Reads the prices of models: those of the record, else those of the model that it is made of. */
export async function readPrices(resolve: Resolve, ids: readonly string[]): Promise<PriceList> {
  const found = await Promise.all(ids.map(async (id) => [id, await findPrices(resolve, id)] as const));
  return new Map(found.flatMap(([id, prices]) => (prices === undefined ? [] : [[id, prices] as const])));
}

async function findPrices(resolve: Resolve, id: string): Promise<Prices | undefined> {
  const model = await resolve(id);
  if (model === undefined) {
    return undefined;
  }
  const own = parsePrices(model.meta);
  return own ?? (model.base.id === id ? undefined : parsePrices((await resolve(model.base.id))?.meta));
}

function parsePrices(meta: Readonly<Record<string, unknown>> | undefined): Prices | undefined {
  return Prices.safeParse(meta?.["prices"]).data;
}

/** What calls cost, by currency. */
export function addAmounts(calls: readonly Tokens[], prices: PriceList): Amount[] {
  const sums = new Map<string, number>();
  for (const call of calls) {
    const price = prices.get(call.model_id);
    if (price !== undefined) {
      sums.set(price.currency, (sums.get(price.currency) ?? 0) + costOf(call, price));
    }
  }
  return [...sums]
    .map(([currency, amount]) => ({ currency, amount }))
    .toSorted((a, b) => b.amount - a.amount);
}

function costOf(call: Tokens, { input, output, cached }: Prices): number {
  const kept = Math.min(Number(call.cached_tokens), Number(call.input_tokens));
  const fresh = Number(call.input_tokens) - kept;
  return (fresh * input + kept * cached + Number(call.output_tokens) * output) / 1_000_000;
}
