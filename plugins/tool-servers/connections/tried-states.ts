import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import type { ToolServerConnection, ToolServerKind, ToolServerState } from "../service.ts";
import { isNameAllowed } from "./name-filter.ts";

const patienceMs = 15_000;
const nothing = { reason: null, checked_at: null, latency_ms: null, functions: [] };

interface Spec {
  readonly name: string;
  readonly description?: string;
}

/** Results of trials of servers whose kind keeps no state of its own, each for one server as it is configured. */
export class TriedStates {
  readonly #known = new Map<string, { readonly fingerprint: string; readonly state: ToolServerState }>();

  peek({ toolId, fingerprint }: ToolServerConnection): ToolServerState {
    const known = this.#known.get(toolId);
    return known?.fingerprint === fingerprint ? known.state : { ...nothing, state: "unknown" };
  }

  /** Tries the server as this person. */
  async refresh(
    server: ToolServerConnection,
    kind: ToolServerKind,
    caller: Principal,
  ): Promise<ToolServerState> {
    const from = performance.now();
    const tried = await kind.verify(server, caller, AbortSignal.timeout(patienceMs)).then(
      (found) => ({ functions: toFunctions(found, server), reason: null }),
      (error: unknown) => ({
        functions: [],
        reason: error instanceof AppError ? error.message : "The server did not answer as it should.",
      }),
    );
    const state: ToolServerState = {
      ...tried,
      state: tried.reason === null ? "reachable" : "failing",
      checked_at: seconds(),
      latency_ms: Math.round(performance.now() - from),
    };
    this.#known.set(server.toolId, { fingerprint: server.fingerprint, state });
    return state;
  }
}

function toFunctions(found: object, server: ToolServerConnection): ToolServerState["functions"] {
  const specs = (found as { readonly specs?: readonly Spec[] }).specs ?? [];
  return specs.map(({ name, description = "" }) => ({
    name,
    description,
    is_read_only: false,
    is_offered: isNameAllowed(server, name),
  }));
}
