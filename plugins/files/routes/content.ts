import { z } from "zod";
import { createConcurrencyLimit } from "#kernel/account-limits.ts";
import { defineRoute, stream } from "#kernel/http/route.ts";
import type { FileActions } from "../files.ts";
import type { FileProgress, Progress } from "../progress.ts";
import { FileId, FileText, ProcessStatus, toggle } from "../schema.ts";
import type { Files } from "../service.ts";

/** Streams of progress that an account follows at once: a page follows each file that it uploads. */
const mostStreams = 50;

/** A file's bytes, its text and the state of its processing. */
export function contentRoutes(service: Files, actions: FileActions, progress: Progress) {
  const streams = createConcurrencyLimit({ limit: () => mostStreams, what: "streams of progress" });
  return [
    defineRoute(
      {
        method: "GET",
        path: "/files/:id/process/status",
        summary: "Read where processing stands, once or as events until it ends",
        access: "user",
        params: FileId,
        query: z.object({ stream: toggle(false) }),
        returns: ProcessStatus,
        fails: [404, 429],
      },
      async ({ params, query, caller, request }) => {
        const { data } = await actions.loadBare(caller, params.id);
        if (query.stream) {
          const leave = streams.enter(caller.userId);
          // A caller who is gone before the first frame leaves a stream that never begins.
          request.signal.addEventListener("abort", leave, { once: true });
          return stream(toFrames(progress.follow(params.id, request.signal), leave));
        }
        return data.status === "failed"
          ? { status: data.status, error: data.error }
          : { status: data.status };
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: "/files/:id/data/content",
        summary: "Read a file's text",
        access: "user",
        params: FileId,
        returns: FileText,
        fails: [404],
      },
      async ({ params, caller }) => {
        const { data } = await service.load(caller, params.id, "read");
        return { content: typeof data.content === "string" ? data.content : "" };
      },
    ),
    ...byteRoutes(actions),
  ];
}

function byteRoutes(actions: FileActions) {
  const facts = {
    method: "GET",
    access: "user",
    produces: "application/octet-stream",
    fails: [404, 416],
  } as const;
  return [
    defineRoute(
      {
        ...facts,
        path: "/files/:id/content",
        summary: "Read a file's bytes",
        params: FileId,
        query: z.object({ attachment: toggle(false) }),
      },
      ({ params, query, caller, request }) =>
        actions.serve(caller, params.id, { request, as: query.attachment ? "attachment" : "auto" }),
    ),
    defineRoute(
      {
        ...facts,
        path: "/files/:id/content/html",
        summary: "Show an HTML file in a sandbox",
        params: FileId,
      },
      ({ params, caller, request }) => actions.serve(caller, params.id, { request, as: "page" }),
    ),
    defineRoute(
      {
        ...facts,
        path: "/files/:id/content/:name",
        summary: "Download a file; the name serves tools that take it from the address",
        params: FileId.extend({ name: z.string() }),
      },
      ({ params, caller, request }) => actions.serve(caller, params.id, { request, as: "attachment" }),
    ),
  ];
}

async function* toFrames(
  steps: AsyncIterable<FileProgress | undefined>,
  leave: () => void,
): AsyncGenerator<string> {
  try {
    for await (const step of steps) {
      // A comment keeps proxies from closing a silent line.
      yield step === undefined ? ": still working\n\n" : `data: ${JSON.stringify(step)}\n\n`;
    }
  } finally {
    leave();
  }
}
