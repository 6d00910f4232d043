import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Deployment, Notices } from "#kernel/services.ts";

/** A process of this deployment that answered. */
export interface Replica {
  readonly instance_id: string;
  readonly version: string;
  readonly node: string;
  /** Epoch seconds. */
  readonly started_at: number;
  readonly memory_bytes: number;
  /** True for the process that was asked. */
  readonly is_this: boolean;
}

export interface RollCall {
  start(): Promise<void>;
  /** Asks every replica over the bus; `latencyMs` is the time of the own answer, undefined when it did not arrive. */
  ask(): Promise<{ replicas: Replica[]; latencyMs: number | undefined }>;
}

export interface RollCallParts {
  readonly notices: Pick<Notices, "notify" | "listen">;
  readonly deployment: Pick<Deployment, "instanceId" | "version">;
}

const channel = "operations";

/** Milliseconds in which replicas answer: far more than a notice takes. */
const patience = 600;

interface Call {
  readonly call: string;
  /** Left out of a question. */
  readonly process?: string;
  readonly replica?: Omit<Replica, "is_this">;
}

/** Replicas answer each other over the announcements that their caches follow, so that the answer also proves the bus. */
export function createRollCall({ notices, deployment }: RollCallParts): RollCall {
  const self = randomUUID();
  const startedAt = Math.floor(Date.now() / 1000 - process.uptime());
  const open = new Map<string, (answer: Call) => void>();

  const answer = (call: string) =>
    notices.notify(channel, {
      call,
      process: self,
      replica: {
        instance_id: deployment.instanceId,
        version: deployment.version,
        node: process.version,
        started_at: startedAt,
        memory_bytes: process.memoryUsage.rss(),
      },
    } satisfies Call);

  return {
    start: () =>
      notices.listen(
        channel,
        (payload) => {
          const call = payload as Call;
          if (call.replica === undefined) {
            // A replica that cannot answer counts as absent.
            answer(call.call).catch(() => undefined);
          } else {
            open.get(call.call)?.(call);
          }
        },
        () => undefined,
      ),
    async ask() {
      const call = randomUUID();
      const replicas = new Map<string, Replica>();
      const began = performance.now();
      let latencyMs: number | undefined;
      open.set(call, ({ process: id = "", replica }) => {
        if (replica !== undefined) {
          latencyMs ??= id === self ? Math.round(performance.now() - began) : undefined;
          replicas.set(id, { ...replica, is_this: id === self });
        }
      });
      try {
        await notices.notify(channel, { call } satisfies Call);
        await pause(patience);
      } finally {
        open.delete(call);
      }
      return { replicas: [...replicas.values()].toSorted((a, b) => a.started_at - b.started_at), latencyMs };
    },
  };
}
