import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import { show, type TimerParts } from "./parts.ts";
import { TimerRecord, toRecord } from "./record.ts";

const Id = z.string().min(1).max(200);

/** Timers of models, for the person whose chats they are in (contract §9). */
export function timerRoutes(parts: Pick<TimerParts, "chats" | "hub" | "loader" | "store">) {
  const { chats, loader, store } = parts;
  return [
    defineRoute(
      {
        method: "GET",
        path: "/timers/",
        summary: "Your timers that wait, in all chats; next due first",
        access: "user",
        returns: z.array(TimerRecord),
      },
      async ({ caller }) => (await store.waitingOf({ user_id: caller.userId })).map(toRecord),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/chats/:id/timers",
        summary: "The timers of a chat, oldest first; the newest 500",
        access: "user",
        params: z.object({ id: Id }),
        returns: z.array(TimerRecord),
        fails: [404],
      },
      async ({ caller, params }) => {
        const { id } = await chats.require(caller, params.id);
        return (await store.ofChat(id)).map(toRecord);
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/timers/:id/cancel",
        summary: "Cancel a timer; one that does not wait any more stays as it is",
        access: "user",
        params: z.object({ id: Id }),
        returns: TimerRecord,
        fails: [404],
      },
      async ({ caller, params }) => {
        const row = await loader.load(caller, params.id, "write");
        const cancelled = await store.cancel({ id: row.id }, "person");
        show(cancelled, parts);
        return toRecord(cancelled[0] ?? (await loader.load(caller, row.id, "read")));
      },
    ),
  ] as const;
}
