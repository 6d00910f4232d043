import { sql } from "kysely";
import { toErrorAnswer } from "#kernel/http/errors.ts";
import { toQuery } from "#kernel/http/url-input.ts";
import { endpoints } from "../http/endpoints.ts";
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
  /** A session whose changes stay in the transaction. */
  openTrial(base: string): Promise<(tx: ScimDatabase) => Session>;
}

/** Carries the results out of the transaction that it ends. */
class RolledBack extends Error {
  readonly results: readonly TrialResult[];

  constructor(results: readonly TrialResult[]) {
    super("the trial is over");
    this.results = results;
  }
}

/**
 * Makes the calls of a provider against the real logic and the real tables, in one transaction that is rolled back:
 * nothing stays, nothing is announced, nobody is told.
 */
export async function runTrial(
  { transaction, openTrial }: TrialParts,
  provider: ProviderName,
  base: string,
): Promise<readonly TrialResult[]> {
  const open = await openTrial(base);
  try {
    return await transaction(async (tx) => {
      throw new RolledBack(await callAll(tx, open(tx), provider));
    });
  } catch (error) {
    if (error instanceof RolledBack) {
      return error.results;
    }
    throw error;
  }
}

async function callAll(tx: ScimDatabase, session: Session, provider: ProviderName): Promise<TrialResult[]> {
  const mark = `scim-trial-${crypto.randomUUID()}`;
  const made: Record<keyof Made, string> = { user: "none", group: "none" };
  const results: TrialResult[] = [];
  for (const call of toTrialCalls(provider, mark)) {
    // A call that fails in the database must not end the transaction of the others.
    await sql`savepoint scim_trial`.execute(tx);
    const result = await callOne(session, call, made);
    await sql`${sql.raw(result.status < 400 ? "release savepoint" : "rollback to savepoint")} scim_trial`.execute(
      tx,
    );
    results.push(result);
    const id = (result.answer as { id?: unknown } | undefined)?.id;
    if (call.makes !== undefined && typeof id === "string") {
      made[call.makes] = id;
    }
  }
  return results;
}

async function callOne(session: Session, call: TrialCall, made: Made): Promise<TrialResult> {
  const path = call.path(made);
  const sent = call.body?.(made);
  const { status, answer } = await answerOf(session, { method: call.method, path, sent });
  const fits = call.fits === undefined || call.fits((answer ?? {}) as Record<string, unknown>, made);
  const { title, method, expected } = call;
  return {
    title,
    method,
    path,
    sent: sent ?? null,
    expected,
    status,
    ok: status === expected && fits,
    answer: answer ?? null,
  };
}

async function answerOf(
  session: Session,
  { method, path, sent }: { method: string; path: string; sent: unknown },
): Promise<{ status: number; answer: unknown }> {
  const [, kind = "", id = ""] = (path.split("?", 1)[0] as string).split("/");
  const pattern = id === "" ? `/${kind}` : `/${kind}/:id`;
  const endpoint = endpoints.find((each) => each.method === method && each.path === pattern);
  try {
    const { status, body } = (await endpoint?.run({ session, id, query: toQuery(path), body: sent })) ?? {
      status: 404,
      body: undefined,
    };
    return { status, answer: body };
  } catch (error) {
    const refused = toErrorAnswer(error, { shape: "scim", invalidStatus: 400, requestId: "trial" });
    return { status: refused.status, answer: JSON.parse(refused.body) as unknown };
  }
}
