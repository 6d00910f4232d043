import { z } from "zod";
import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import { toAddress } from "../proxy/address.ts";
import type { Caller } from "../proxy/identity.ts";
import type { Terminal } from "./schema.ts";
import { ask, requireGood } from "./upstream.ts";

/** An OpenAPI document as far as everybody needs it. */
export const OpenApi = z.looseObject({
  openapi: z.string(),
  info: z.looseObject({ title: z.string().optional(), version: z.string().optional() }).optional(),
  paths: z.record(z.string(), z.looseObject({})),
});
export type OpenApi = z.output<typeof OpenApi>;

/** What a terminal server says about itself. */
export interface Description {
  readonly document: OpenApi;
  /** Its prompt for models, where it has one. */
  readonly prompt: string | undefined;
}

/** How a terminal server fared when it was last asked. */
export interface Health {
  readonly state: "unknown" | "reachable" | "failing";
  readonly reason: string | undefined;
  /** Epoch seconds. */
  readonly checkedAt: number | undefined;
}

/** Descriptions of terminal servers, read anew when they are older than a minute. */
export interface Documents {
  /** Throws `unavailable` for a server that does not describe itself. */
  read(terminal: Terminal, caller?: Caller): Promise<Description>;
  /** The same, of a server that is there now: only one that has just failed is not asked again. */
  readLive(terminal: Terminal, caller?: Caller): Promise<Description>;
  /** The same, without looking at what is kept. */
  readNow(terminal: Terminal, caller?: Caller): Promise<Description>;
  health(terminal: Terminal): Health;
}

interface Kept {
  readonly description: Promise<Description>;
  readonly until: number;
  readonly isBad: boolean;
}

const goodForMs = 60_000;
/** A server that fails is not waited for again at once. */
const badForMs = 5_000;
const timeoutMs = 10_000;
const mostKept = 500;

export function createDocuments(egress: Egress): Documents {
  const kept = new Map<string, Kept>();
  const healths = new Map<string, Health>();
  const keyOf = (terminal: Terminal, caller: Caller | undefined) =>
    JSON.stringify([terminal, terminal.isOrchestrator ? caller?.principal.userId : null]);

  const readNow = (terminal: Terminal, caller?: Caller): Promise<Description> => {
    const key = keyOf(terminal, caller);
    const keep = (description: Promise<Description>, isBad: boolean) => {
      kept.delete(key);
      kept.set(key, { description, until: Date.now() + (isBad ? badForMs : goodForMs), isBad });
      if (kept.size > mostKept) {
        kept.delete(kept.keys().next().value as string);
      }
    };
    const note = (health: Pick<Health, "state" | "reason">) =>
      healths.set(terminal.id, { ...health, checkedAt: Math.floor(Date.now() / 1000) });
    const description = fetchDescription(egress, terminal, caller);
    keep(description, false);
    description.then(
      () => note({ state: "reachable", reason: undefined }),
      (error: unknown) => {
        keep(description, true);
        note({
          state: "failing",
          reason: error instanceof AppError ? error.message : "The answer cannot be read.",
        });
      },
    );
    return description;
  };
  const find = (terminal: Terminal, caller: Caller | undefined) => {
    const known = kept.get(keyOf(terminal, caller));
    return known && known.until > Date.now() ? known : undefined;
  };
  return {
    readNow,
    read: (terminal, caller) => find(terminal, caller)?.description ?? readNow(terminal, caller),
    readLive(terminal, caller) {
      const known = find(terminal, caller);
      return known?.isBad ? known.description : readNow(terminal, caller);
    },
    health: ({ id }) => healths.get(id) ?? { state: "unknown", reason: undefined, checkedAt: undefined },
  };
}

async function fetchDescription(egress: Egress, terminal: Terminal, caller?: Caller): Promise<Description> {
  const [path, ...query] = terminal.path.replace(/^\/+/, "").split("?");
  const isFull = /^https?:/i.test(terminal.path);
  // Of the same origin: the connection cannot be used otherwise.
  const url = isFull ? terminal.path : toAddress(terminal, path ?? "", query.join("?"));
  const [openapi, prompt] = await Promise.all([
    ask(egress, terminal, { url, caller, timeoutMs }),
    readPrompt(egress, terminal, caller),
  ]);
  const document = OpenApi.safeParse(requireGood(openapi, "The OpenAPI document"));
  if (!document.success) {
    throw new AppError("unavailable", "The terminal server's OpenAPI document cannot be read.");
  }
  return { document: document.data, prompt };
}

const Prompt = z.looseObject({ prompt: z.string().max(100_000) });

/** Optional: a server without one has no such path. */
async function readPrompt(egress: Egress, terminal: Terminal, caller?: Caller): Promise<string | undefined> {
  try {
    const answer = await ask(egress, terminal, { url: toAddress(terminal, "system"), caller, timeoutMs });
    return answer.status === 200
      ? Prompt.safeParse(answer.value).data?.prompt.trim() || undefined
      : undefined;
  } catch {
    return undefined;
  }
}
