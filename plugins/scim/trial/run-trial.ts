import { sql } from "kysely";
import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import { scimMediaType } from "#kernel/http/errors.ts";
import type { RequestInfo } from "#kernel/http/route.ts";
import { surfaces } from "#kernel/http/surfaces.ts";
import type { Session } from "../resources/session.ts";
import type { ScimDatabase } from "../tables.ts";
import { type Made, type ProviderName, toTrialCalls, type TrialCall } from "./provider-calls.ts";

/** What one call of a trial answered. */
export interface TrialResult {
  readonly title: string;
  readonly method: string;
  readonly path: string;
  /** The body that was sent. */
  readonly sent: unknown;
  readonly expected: number;
  readonly status: number;
  readonly ok: boolean;
  /** The body that was answered. */
  readonly answer: unknown;
}

export interface TrialParts {
  transaction<R>(run: (tx: ScimDatabase) => Promise<R>): Promise<R>;
  /** Sessions whose changes stay in the transaction. */
  openTrial(): Promise<(tx: ScimDatabase, base: string) => Session>;
  readonly egress: Pick<Egress, "fetch">;
  /** SCIM_TOKEN. */
  token(): string;
}

/** Trials of the surface: calls over the wire whose changes are rolled back. */
export interface Trials {
  /** `origin` is the listener of this process. */
  run(provider: ProviderName, origin: string): Promise<readonly TrialResult[]>;
  /** Whether a call belongs to a trial that runs: nobody else can name it. */
  isRunning(request: RequestInfo): boolean;
  /**
   * The session of a call that says it belongs to a trial; undefined for others. Throws `conflict` once the trial has
   * ended: such a call must change nothing.
   */
  sessionOf(request: RequestInfo, base: string): Session | undefined;
}

/** Carries the results out of the transaction that it ends. */
class RolledBack extends Error {
  readonly results: readonly TrialResult[];

  constructor(results: readonly TrialResult[]) {
    super("the trial is over");
    this.results = results;
  }
}

/** Names the trial that a call belongs to. */
const trialHeader = "x-scim-trial";
const longestCallMs = 10_000;

/**
 * Makes the calls of a provider over the wire, with the token and through the gate, in one transaction that is rolled
 * back: nothing stays, and nothing is announced. The calls reach the transaction by a name that only they know.
 */
export function createTrials({ transaction, openTrial, egress, token }: TrialParts): Trials {
  const running = new Map<string, (base: string) => Session>();
  return {
    isRunning: ({ headers }) => running.has(String(headers[trialHeader])),
    sessionOf({ headers }, base) {
      if (headers[trialHeader] === undefined) {
        return undefined;
      }
      const open = running.get(String(headers[trialHeader]));
      if (open === undefined) {
        throw new AppError("conflict", "This trial has ended.");
      }
      return open(base);
    },
    async run(provider, origin) {
      const open = await openTrial();
      const id = crypto.randomUUID();
      const send: Send = ({ method, path, sent }) =>
        sendCall(egress, `${origin}${surfaces.scim.base}${path}`, {
          method,
          sent,
          headers: { authorization: `Bearer ${token()}`, [trialHeader]: id },
        });
      try {
        return await transaction(async (tx) => {
          running.set(id, (base) => open(tx, base));
          throw new RolledBack(await callAll(tx, send, provider));
        });
      } catch (error) {
        if (error instanceof RolledBack) {
          return error.results;
        }
        throw error;
      } finally {
        running.delete(id);
      }
    },
  };
}

type Send = (call: {
  method: string;
  path: string;
  sent: unknown;
}) => Promise<{ status: number; answer: unknown }>;

async function callAll(tx: ScimDatabase, send: Send, provider: ProviderName): Promise<TrialResult[]> {
  const mark = `scim-trial-${crypto.randomUUID()}`;
  const made: Record<keyof Made, string> = { user: "none", group: "none" };
  const results: TrialResult[] = [];
  for (const call of toTrialCalls(provider, mark)) {
    // A call that fails in the database must not end the transaction of the others.
    await sql`savepoint scim_trial`.execute(tx);
    const result = await callOne(send, call, made);
    await sql`${sql.raw(result.status < 400 ? "release savepoint" : "rollback to savepoint")} scim_trial`.execute(
      tx,
    );
    results.push(result);
    const id = (result.answer as { id?: unknown } | null)?.id;
    if (call.makes !== undefined && typeof id === "string") {
      made[call.makes] = id;
    }
  }
  return results;
}

async function callOne(send: Send, call: TrialCall, made: Made): Promise<TrialResult> {
  const path = call.path(made);
  const sent = call.body?.(made) ?? null;
  const { title, method, expected } = call;
  const { status, answer } = await send({ method, path, sent });
  const isExpected = status === expected;
  const fits =
    isExpected && (call.fits === undefined || call.fits((answer ?? {}) as Record<string, unknown>, made));
  return { title, method, path, sent, expected, status, ok: fits, answer };
}

async function sendCall(
  egress: TrialParts["egress"],
  url: string,
  { method, sent, headers }: { method: string; sent: unknown; headers: Record<string, string> },
): Promise<{ status: number; answer: unknown }> {
  const response = await egress.fetch(url, {
    trust: "operator",
    method,
    timeoutMs: longestCallMs,
    headers: { ...headers, ...(sent !== null && { "content-type": scimMediaType }) },
    body: sent === null ? undefined : JSON.stringify(sent),
  });
  const text = await response.text();
  return { status: response.status, answer: text === "" ? null : (JSON.parse(text) as unknown) };
}
