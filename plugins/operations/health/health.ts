import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { sql } from "kysely";
import { AppError } from "#kernel/errors.ts";
import type { PluginDatabase } from "#kernel/plugin.ts";
import type { Deployment } from "#kernel/services.ts";
import type { Blobs } from "#storage/blobs.ts";
import type { DiskRoom } from "#kernel/disk.ts";
import type { LastBackup } from "#plugins/backup/service.ts";
import { createHistory, type Sample } from "./history.ts";
import type { Replica, RollCall } from "./roll-call.ts";
import type { UpstreamRecord } from "./upstreams.ts";

/** One part of the server that everything else needs. */
export interface Component {
  readonly id: "database" | "blobs" | "bus" | "checks";
  readonly state: "working" | "failing";
  readonly latency_ms: number | null;
  /** Why it fails. */
  readonly reason: string | null;
}

/** Runs of a job that wait. */
export interface Queue {
  readonly id: string;
  readonly title: string | null;
  readonly waiting: number;
}

export interface HealthReport {
  readonly components: readonly (Component & { readonly history: readonly Sample[] })[];
  readonly queues: readonly Queue[];
  readonly disk: DiskRoom | null;
  readonly backup: LastBackup | null;
  readonly upstreams: readonly UpstreamRecord[];
  readonly replicas: readonly Replica[];
  readonly versions: {
    readonly platform: string;
    readonly node: string;
    readonly database: string;
    readonly database_kind: string;
  };
  readonly database_bytes: number | null;
  readonly deployment_id: string;
}

export interface HealthParts {
  readonly db: PluginDatabase<Record<never, never>>;
  readonly deployment: Pick<Deployment, "version" | "ping" | "database" | "deploymentId" | "disk">;
  readonly blobs: Pick<Blobs, "write" | "read" | "remove">;
  readonly rollCall: Pick<RollCall, "ask">;
  queues(): Promise<readonly Queue[]>;
  backup(): Promise<LastBackup | undefined>;
  upstreams(): readonly UpstreamRecord[];
}

/** Milliseconds after which a part counts as failing. */
const patience = 5000;

/** Uses each part once, all at the same time, so that the answer says what works and not what is configured. */
export function createHealth(parts: HealthParts): () => Promise<HealthReport> {
  const { db, deployment, blobs, rollCall } = parts;
  const history = createHistory(Date.now);
  return async () => {
    let asked: Awaited<ReturnType<RollCall["ask"]>> | undefined;
    let facts: { version: string; bytes: number } | undefined;
    const [database, stored, checks, bus] = await Promise.all([
      measure("database", async () => {
        facts = await readDatabase(db);
      }),
      measure("blobs", () => tryBlobs(blobs)),
      measure("checks", () => deployment.ping()),
      measure("bus", async () => {
        asked = await rollCall.ask();
        if (asked.latencyMs === undefined) {
          throw new AppError("unavailable", "An announcement of this process did not come back to it.");
        }
      }),
    ]);
    const components = [database, stored, { ...bus, latency_ms: asked?.latencyMs ?? null }, checks];
    history.add(components);
    // The page is wanted most while the database is away.
    const [queues, backup] = await Promise.all([
      parts.queues().catch(() => []),
      parts.backup().catch(() => undefined),
    ]);
    return {
      components: components.map((one) => ({ ...one, history: history.of(one.id) })),
      queues: queues.filter(({ waiting }) => waiting > 0),
      disk: deployment.disk() ?? null,
      backup: backup ?? null,
      upstreams: parts.upstreams(),
      replicas: asked?.replicas ?? [],
      versions: {
        platform: deployment.version,
        node: process.version,
        database: facts?.version ?? "",
        database_kind: deployment.database,
      },
      database_bytes: facts?.bytes ?? null,
      deployment_id: deployment.deploymentId,
    };
  };
}

async function measure(id: Component["id"], work: () => Promise<unknown>): Promise<Component> {
  const began = performance.now();
  const latency = () => Math.round(performance.now() - began);
  try {
    await withinTime(work());
    return { id, state: "working", latency_ms: latency(), reason: null };
  } catch (error) {
    // Causes may name addresses with passwords; the log has them masked.
    const said =
      error instanceof AppError && typeof error.detail === "string" ? error.detail : "It does not answer.";
    return { id, state: "failing", latency_ms: null, reason: said };
  }
}

async function withinTime(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new AppError("timeout", `It did not answer within ${patience / 1000} seconds.`)),
      patience,
    );
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function readDatabase(db: HealthParts["db"]): Promise<{ version: string; bytes: number }> {
  const { rows } = await sql<{
    version: string;
    bytes: string;
  }>`select current_setting('server_version') as version, pg_database_size(current_database())::text as bytes`.execute(
    db,
  );
  return { version: rows[0]?.version ?? "", bytes: Number(rows[0]?.bytes ?? 0) };
}

async function tryBlobs({ write, read, remove }: HealthParts["blobs"]): Promise<void> {
  const key = `health/${randomUUID()}`;
  const bytes = Buffer.from(key);
  try {
    await write(key, Readable.from([bytes]));
    const stream = await read(key);
    if (stream === undefined || !(await buffer(stream)).equals(bytes)) {
      throw new AppError("unavailable", "Stored bytes did not come back as they were written.");
    }
  } finally {
    await remove(key);
  }
}
