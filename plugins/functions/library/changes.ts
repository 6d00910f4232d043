import type { Principal } from "#kernel/access/principal.ts";
import type { Events } from "#kernel/events.ts";
import type { Sandbox } from "#kernel/sandbox.ts";
import type { Notices } from "#kernel/services.ts";
import type { FunctionRow } from "./function-store.ts";
import { toScriptId } from "../calls/load.ts";

export type FunctionEvent =
  | "created"
  | "updated"
  | "deleted"
  | "enabled"
  | "disabled"
  | "enable_started"
  | "disable_started"
  | "valves_updated";

/** Announces changes: to the memory of this process and of all replicas, and as events. */
export interface FunctionChanges {
  /** Resolves when this process has dropped what it knew and the others have been told. */
  changed(id: string, what?: { code: boolean }): Promise<void>;
  /** `row.error` goes along as the reason of what the server did. */
  announce(event: FunctionEvent, by: Principal | null, row: AnnouncedFunction): void;
}

export type AnnouncedFunction = Pick<FunctionRow, "id" | "name" | "type"> & {
  readonly error?: string | null;
};

export interface ChangesParts {
  readonly events: Pick<Events, "announce">;
  readonly notices: Notices;
  readonly sandbox: Pick<Sandbox, "forget">;
  /** Drops the functions in memory. */
  forget(): void;
  /** Reads them anew without keeping anybody waiting. */
  refresh(): void;
  /** Drops one person's valves in memory, or everybody's. */
  forgetValves(userId?: string): void;
}

const channel = "functions";

/** A notice between replicas. */
interface Notice {
  readonly id?: string;
  readonly code?: boolean;
  readonly user?: string;
}

/** Tells all replicas that a person's own valves changed. */
export async function announceUserValves(notices: Notices, userId: string): Promise<void> {
  await notices.notify(channel, { user: userId } satisfies Notice);
}

/** Opens the way of changes between replicas. */
export async function openFunctionChanges(parts: ChangesParts): Promise<FunctionChanges> {
  const { events, notices, sandbox } = parts;
  const heard = ({ id, code, user }: Notice) => {
    if (user !== undefined) {
      parts.forgetValves(user);
    }
    if (id !== undefined) {
      if (code) {
        sandbox.forget(toScriptId(id));
      }
      parts.refresh();
    }
  };
  const missed = () => {
    parts.refresh();
    parts.forgetValves();
  };
  await notices.listen(channel, (payload) => heard(payload as Notice), missed);
  return {
    async changed(id, { code } = { code: false }) {
      // At once here: the answer to the change must not come before it holds.
      parts.forget();
      if (code) {
        sandbox.forget(toScriptId(id));
      }
      await notices.notify(channel, { id, code } satisfies Notice);
    },
    announce(event, by, { id, name, type, error }) {
      const actor = by && { id: by.userId, name: by.name, email: by.email, role: by.role };
      events.announce(`function.${event}`, {
        actor,
        subject: { type: "function", id },
        data: { id, name, type, ...(event === "disabled" && error && { reason: error }) },
      });
    },
  };
}
