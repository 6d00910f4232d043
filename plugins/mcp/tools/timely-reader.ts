import type { Tool as ServerTool } from "@modelcontextprotocol/sdk/types.js";
import { AppError } from "#kernel/errors.ts";
import type { ServerSession } from "../sessions.ts";

/** Milliseconds that the first word of a reply waits for a server to tell its functions. */
const patienceMs = 2000;
/** Lists of people who were here last; a list is as long as its server makes it. */
const mostLists = 200;

export interface TimelyOptions {
  readonly signal: AbortSignal;
  /** Told when what is offered is not of now. */
  onProblem(text: string): void;
}

/**
 * Reads the functions of a server within two seconds. A server that takes longer is read on, and what it told last is
 * offered meanwhile. Throws `timeout` where it has told nothing yet.
 */
export function createTimelyReader() {
  const lists = new Map<string, readonly ServerTool[]>();
  const keep = (owner: string, list: readonly ServerTool[]) => {
    lists.delete(owner);
    lists.set(owner, list);
    const [oldest] = lists.keys();
    if (lists.size > mostLists && oldest !== undefined) {
      lists.delete(oldest);
    }
    return list;
  };
  return async (session: ServerSession, { signal, onProblem }: TimelyOptions) => {
    const late = AbortSignal.timeout(patienceMs);
    try {
      return await session.use(
        async (connection) => keep(session.owner, await connection.tools.read()),
        AbortSignal.any([signal, late]),
      );
    } catch (error) {
      signal.throwIfAborted();
      if (!late.aborted) {
        throw error;
      }
      const known = lists.get(session.owner);
      if (known === undefined) {
        throw new AppError("timeout", "It did not tell its functions within 2 seconds.", { cause: error });
      }
      onProblem(
        `"${session.server.name}" did not tell its functions within 2 seconds. Those that it told last are used.`,
      );
      return known;
    }
  };
}
