import { sql } from "kysely";
import { type ModelCall, modelCallEnded } from "#kernel/completion/model-call.ts";
import type { Events } from "#kernel/events.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { events } from "#kernel/services.ts";
import type { App } from "#test/support/app.ts";

let bus: Events;

/** Lends tests the announcements of the app that was started last. */
export const witness = definePlugin({
  id: "witness",
  title: "Announces calls",
  uses: { events },
  setup({ use }) {
    bus = use.events;
    return {};
  },
});

/** Epoch milliseconds. */
export const noon = (day: string) => Date.parse(`${day}T12:00:00Z`);

export interface Told {
  by: string;
  at: number;
  model?: string;
  input?: number;
  output?: number;
  chatId?: string;
  tools?: string[];
  outcome?: "completed" | "failed" | "aborted";
}

/** Announces a call as providers do. */
export function called(told: Told) {
  bus.emit(modelCallEnded, toCall(told));
}

/** A call as it is announced. */
export function toCall({
  by,
  at,
  model = "m",
  input = 10,
  output = 5,
  chatId,
  tools = [],
  outcome = "completed",
}: Told): ModelCall {
  return {
    userId: by,
    modelId: model,
    baseModelId: `base-${model}`,
    provider: "common",
    connection: "0",
    wire: "chat",
    task: undefined,
    chatId,
    messageId: chatId && "message-1",
    startedAt: at,
    durationMs: 100,
    firstTokenMs: 10,
    outcome,
    tokens: { input, output, cached: 2, reasoning: 1 },
    isEstimated: false,
    tools,
  };
}

/** Has what waits written, as every look at usage does. */
export async function writeWaiting(app: App): Promise<void> {
  const admin = await app.admin();
  await admin.call("GET /api/v1/users/usage");
}

/** How many records and calls the database has. */
export async function written(app: App): Promise<{ records: number; calls: number }> {
  await writeWaiting(app);
  const { rows } = await sql<{ records: number; calls: number }>`
    select (select coalesce(sum(calls), 0) from usage_batch)::bigint as records,
      (select coalesce(sum(calls), 0)::bigint from usage_day) as calls`.execute(app.running.database.db);
  return rows[0]!;
}
