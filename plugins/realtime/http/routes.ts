import { z } from "zod";
import { parseJson } from "#kernel/http/json.ts";
import { defineRoute, stream } from "#kernel/http/route.ts";
import type { HttpClient } from "./client.ts";
import type { HttpClients } from "./clients.ts";

/** A proxy that hears nothing for longer takes a connection for dead. */
const keepAliveMs = 15_000;
const longestPollSeconds = 20;
const mostFrames = 100;

const Place = {
  session_id: z
    .string()
    .max(100)
    .optional()
    .describe("The session to go on with; left out, a new one begins"),
  after: z.coerce.number().int().min(0).default(0).describe("The number of the last frame that arrived"),
};
const Frame = z.looseObject({ type: z.string() }).meta({ id: "EventFrame" });
const Polled = z
  .object({ session_id: z.string(), after: z.int(), frames: z.array(Frame) })
  .meta({ id: "PolledEvents" });
const Emitted = z.object({
  session_id: z.string().min(1).max(100),
  frames: z.array(Frame).min(1).max(mostFrames),
});

/**
 * Events for clients that no WebSocket reaches (contract D.42): the frames of `/ws`, under the same rights, as a stream
 * or fetched now and then. A client goes on where it was by its session and the number of the last frame it has.
 */
export function httpEventRoutes(clients: HttpClients) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/events",
        summary: "Follow events as a stream, in the frames of the plain WebSocket",
        access: "user",
        query: z.object(Place),
        produces: "text/event-stream",
        fails: [429, 503],
      },
      ({ caller, request, query: { session_id: sessionId, after } }) => {
        const { client, isNew } = clients.join({ caller, request }, { sessionId, after });
        const frames = toStream(client, { after: isNew ? 0 : after, signal: request.signal });
        return stream(frames, {
          headers: { "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" },
        });
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: "/events/poll",
        summary: "Fetch the events since the last ones, where streams are held up on their way",
        access: "user",
        query: z.object({
          ...Place,
          wait: z.coerce
            .number()
            .min(0)
            .max(longestPollSeconds)
            .default(0)
            .describe("Seconds to wait for an event"),
        }),
        returns: Polled,
        fails: [429, 503],
      },
      async ({ caller, request, query: { session_id: sessionId, after, wait } }) => {
        const { client, isNew } = clients.join({ caller, request }, { sessionId, after });
        return await poll(client, { after: isNew ? 0 : after, wait, signal: request.signal });
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/events/emit",
        summary: "Emit events, and answer those of the server, as frames of the plain WebSocket",
        access: "user",
        body: Emitted,
        returns: z.object({ status: z.boolean() }),
        fails: [404],
      },
      async ({ caller, body }) => {
        await clients.receive(caller, body.session_id, body.frames);
        return { status: true };
      },
    ),
  ] as const;
}

interface Reading {
  readonly after: number;
  readonly signal: AbortSignal;
}

async function* toStream(client: HttpClient, { after, signal }: Reading): AsyncGenerator<string> {
  const reader = attach(client, { after, signal });
  let last = after;
  try {
    // The client learns at once whether it goes on, and that nothing on the way holds the stream up.
    yield `event: open\ndata: ${JSON.stringify({ session_id: client.sessionId })}\n\n`;
    while (!signal.aborted) {
      const frames = client.take(reader, last);
      if (frames === undefined) {
        return;
      }
      if (frames.length > 0) {
        last = frames.at(-1)?.number ?? last;
        yield frames.map(({ number, text }) => `id: ${number}\ndata: ${text}\n\n`).join("");
      } else if (!(await client.changed(keepAliveMs))) {
        yield ": keep-alive\n\n";
      }
    }
  } finally {
    client.detach(reader);
  }
}

async function poll(client: HttpClient, { after, wait, signal }: Reading & { readonly wait: number }) {
  const reader = attach(client, { after, signal });
  try {
    let frames = client.take(reader, after);
    if (frames?.length === 0 && wait > 0) {
      await client.changed(wait * 1000);
      frames = client.take(reader, after);
    }
    return {
      session_id: client.sessionId,
      after: frames?.at(-1)?.number ?? after,
      frames: (frames ?? []).map(({ text }) => parseJson(text) as z.output<typeof Frame>),
    };
  } finally {
    client.detach(reader);
  }
}

/** A client that leaves in the middle of an answer counts as away at once. */
function attach(client: HttpClient, { after, signal }: Reading): number {
  const reader = client.attach(after);
  signal.addEventListener("abort", () => client.detach(reader), { once: true });
  return reader;
}
