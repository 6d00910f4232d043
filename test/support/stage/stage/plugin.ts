import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { hub } from "#kernel/sockets/hub.ts";

const Emit = z.object({
  room: z.string(),
  count: z.int().default(1),
  from: z.int().default(1),
  size: z.int().default(0),
  /** Every so many events one has this size instead. */
  big: z.object({ every: z.int(), size: z.int() }).optional(),
});
const Ask = z.object({ userId: z.string(), sessionId: z.string(), timeoutMs: z.int().optional() });
const Member = z.object({ userId: z.string(), room: z.string() });

/** Lets tests reach the hub of a server process over HTTP. */
export default definePlugin({
  id: "stage",
  title: "Stage",
  uses: { hub },
  setup({ use: { hub } }) {
    const access = "admin";
    return {
      routes: {
        api: [
          defineRoute(
            { method: "POST", path: "/stage/emit", summary: "Emit", access, body: Emit },
            ({ body: { room, count, from, size, big } }) => {
              for (let at = from; at < from + count; at++) {
                const length = big && at % big.every === 0 ? big.size : size;
                hub.emit(room, "events", { at, text: 'ä\n\t"'.repeat(Math.ceil(length / 4)) });
              }
              return true;
            },
          ),
          defineRoute(
            { method: "POST", path: "/stage/ask", summary: "Ask", access, body: Ask },
            async ({ body: { timeoutMs, ...who } }) => ({
              answer: await hub.ask({ ...who, event: "events", payload: { question: "ä?" } }, { timeoutMs }),
            }),
          ),
          defineRoute(
            { method: "POST", path: "/stage/join", summary: "Join", access, body: Member },
            ({ body }) => hub.join(body.userId, body.room),
          ),
          defineRoute(
            { method: "POST", path: "/stage/leave", summary: "Leave", access, body: Member },
            ({ body }) => hub.leave(body.userId, body.room),
          ),
        ],
      },
    };
  },
});
