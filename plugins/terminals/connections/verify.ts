import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import { toAddress } from "../proxy/address.ts";
import { type Documents, type OpenApi } from "./documents.ts";
import { findProblem, type StoredTerminal, toTerminal } from "./schema.ts";
import { ask } from "./upstream.ts";

const timeoutMs = 10_000;

/** Tries a connection that need not be stored. Throws `invalid` with what is wrong. */
export async function verify(
  entry: StoredTerminal,
  { egress, documents }: { egress: Egress; documents: Documents },
) {
  const problem = findProblem(entry);
  if (problem !== undefined) {
    throw new AppError("invalid", `The connection cannot be used: ${problem}.`);
  }
  const terminal = toTerminal(entry);
  try {
    const policies = await ask(egress, terminal, { url: `${terminal.url}/api/v1/policies`, timeoutMs });
    const type = policies.status === 200 && policies.value !== undefined ? "orchestrator" : "terminal";
    if (type === "orchestrator" && terminal.policyId === undefined) {
      return { status: true, type, info: null, tools: [] as string[], sessions: true };
    }
    const { document } = await documents.readNow(terminal);
    const sessions = await ask(egress, terminal, { url: toAddress(terminal, "api/terminals"), timeoutMs });
    if (sessions.status === 401 || sessions.status === 403) {
      throw new AppError("unavailable", `The terminal server refused the key (status ${sessions.status}).`);
    }
    return {
      status: true,
      type,
      info: { title: document.info?.title ?? "", version: document.info?.version ?? "" },
      tools: toNames(document),
      sessions: sessions.status === 200,
    };
  } catch (error) {
    throw error instanceof AppError && error.code === "unavailable"
      ? new AppError("invalid", error.message, { cause: error })
      : error;
  }
}

/** The names of a document's operations. */
export function toNames({ paths }: OpenApi): string[] {
  return Object.values(paths).flatMap((path) =>
    Object.values(path).flatMap((operation) => {
      const id = (operation as { operationId?: unknown } | null)?.operationId;
      return typeof id === "string" ? [id] : [];
    }),
  );
}
