import { z } from "zod";
import type { ConfigRegistry } from "#config/registry.ts";
import type { Egress } from "#kernel/egress/egress.ts";
import type { Events } from "#kernel/events.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { Documents } from "./documents.ts";
import {
  createOrchestrator,
  LifecycleForm,
  PolicyForm,
  RefreshForm,
  type ServerForm,
} from "./orchestrator.ts";
import { type StoredTerminal, StoredTerminal as Shape, StoredTerminals } from "./schema.ts";
import { requireSound, showTerminal, unmaskTerminal } from "./secrets.ts";
import type { Terminals } from "./terminals.ts";
import { toNames, verify } from "./verify.ts";

export interface ConfigRoutesParts {
  readonly configuration: ConfigRegistry;
  readonly egress: Egress;
  readonly events: Pick<Events, "announce">;
  readonly documents: Documents;
  readonly terminals: Terminals;
  stored(): readonly StoredTerminal[];
}

const base = "/configs/terminal_servers";
const Config = z.object({ TERMINAL_SERVER_CONNECTIONS: StoredTerminals }).meta({ id: "TerminalServers" });
const Checked = z.object({
  status: z.boolean(),
  type: z.enum(["terminal", "orchestrator"]),
  info: z.object({ title: z.string(), version: z.string() }).nullable(),
  /** Names of the tools that models get. */
  tools: z.array(z.string()),
  /** Whether people can open a terminal on it. */
  sessions: z.boolean(),
});
const State = z.object({
  id: z.string(),
  state: z.enum(["off", "unusable", "unknown", "reachable", "failing"]),
  reason: z.string().nullable(),
  checked_at: z.int().nullable(),
  tools: z.array(z.string()),
});

/** The connections for administrators (contract §5.3). Keys are shown masked and may come back so. */
export function configRoutes(parts: ConfigRoutesParts) {
  const { configuration, events, stored } = parts;
  const view = () => ({ TERMINAL_SERVER_CONNECTIONS: stored().map(showTerminal) });
  const admin = { access: "admin" } as const;
  return [
    defineRoute(
      { ...admin, method: "GET", path: base, summary: "Read the terminal servers", returns: Config },
      view,
    ),
    defineRoute(
      {
        ...admin,
        method: "POST",
        path: base,
        summary: "Replace the terminal servers",
        body: Config,
        returns: Config,
        fails: [400],
      },
      async ({ body, caller }) => {
        const before = stored();
        const entries = body.TERMINAL_SERVER_CONNECTIONS.map((entry, index) =>
          unmaskTerminal(entry, before, index),
        );
        requireSound(entries);
        await configuration.set({ TERMINAL_SERVER_CONNECTIONS: entries }, caller.userId);
        const { userId: id, name, email, role } = caller;
        events.announce("config.terminal_servers.updated", {
          actor: { id, name, email, role },
          subject: null,
          data: { servers: entries.length },
        });
        return view();
      },
    ),
    defineRoute(
      {
        ...admin,
        method: "POST",
        path: `${base}/verify`,
        summary: "Try a terminal server",
        body: Shape,
        returns: Checked,
        fails: [400],
      },
      ({ body }) => verify(unmaskTerminal(body, stored()), parts),
    ),
    defineRoute(
      {
        ...admin,
        method: "GET",
        path: `${base}/states`,
        summary: "Tell how the terminal servers fare",
        query: z.object({ refresh: z.enum(["true", "false"]).default("false") }),
        returns: z.object({ data: z.array(State) }),
      },
      async ({ query }) => ({ data: await readStates(parts, query.refresh === "true") }),
    ),
    ...orchestratorRoutes(parts),
  ] as const;
}

function orchestratorRoutes({ egress, stored }: ConfigRoutesParts) {
  const orchestrator = createOrchestrator(egress);
  const withKey = <F extends ServerForm>(form: F): F => {
    const entry = Shape.parse({ id: "orchestrator", url: form.url, key: form.key });
    return { ...form, key: unmaskTerminal(entry, stored()).key };
  };
  const shared = { access: "admin", method: "POST", fails: [400, 503] } as const;
  return [
    defineRoute(
      { ...shared, path: `${base}/policy`, summary: "Store a policy of an orchestrator", body: PolicyForm },
      ({ body }) => orchestrator.putPolicy(withKey(body)),
    ),
    defineRoute(
      {
        ...shared,
        path: `${base}/lifecycle`,
        summary: "Set how an orchestrator keeps terminals",
        body: LifecycleForm,
      },
      ({ body }) => orchestrator.putLifecycle(withKey(body)),
    ),
    defineRoute(
      {
        ...shared,
        path: `${base}/refresh`,
        summary: "Let an orchestrator make its terminals anew",
        body: RefreshForm,
      },
      ({ body }) => orchestrator.refresh(withKey(body)),
    ),
  ] as const;
}

async function readStates(
  { documents, terminals, stored }: ConfigRoutesParts,
  isFresh: boolean,
): Promise<z.output<typeof State>[]> {
  const entries = stored();
  return await Promise.all(
    terminals.all().map(async (terminal, index) => {
      const isEnabled = entries[index]?.enabled !== false;
      const none = { id: terminal.id, reason: null, checked_at: null, tools: [] };
      if (!isEnabled) {
        return { ...none, state: "off" as const };
      }
      if (terminal.problem !== undefined) {
        return { ...none, state: "unusable" as const, reason: terminal.problem };
      }
      const asked = isFresh ? documents.readNow(terminal) : documents.read(terminal);
      const description = await asked.catch(() => undefined);
      const { state, reason, checkedAt } = documents.health(terminal);
      const tools = description === undefined ? [] : toNames(description.document);
      return { id: terminal.id, state, reason: reason ?? null, checked_at: checkedAt ?? null, tools };
    }),
  );
}
