import { Readable } from "node:stream";
import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { Files } from "#plugins/files/service.ts";
import type { ToolServers } from "#plugins/tool-servers/service.ts";
import { toServerError } from "../client/server-error.ts";
import type { OpenSession, ServerSession } from "../sessions.ts";
import { truncate } from "../tools/results.ts";
import { findServer } from "./find-server.ts";

export interface OfferRoutesParts {
  readonly servers: Pick<ToolServers, "readable">;
  readonly open: OpenSession;
  readonly files: Files | undefined;
}

const Id = z.object({ id: z.string().min(1).max(100) });
const Argument = z.object({ name: z.string(), description: z.string().optional(), required: z.boolean() });
const Offer = z
  .object({
    server: z.object({ id: z.string(), name: z.string() }),
    resources: z.array(
      z.object({ uri: z.string(), name: z.string(), description: z.string(), type: z.string() }),
    ),
    prompts: z.array(
      z.object({
        name: z.string(),
        title: z.string(),
        description: z.string(),
        arguments: z.array(Argument),
      }),
    ),
  })
  .meta({ id: "McpOffer" });

const patience = 15_000;
const most = 500;

/** Resources and prompts of servers, for the composer. */
export function offerRoutes({ servers, open, files }: OfferRoutesParts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/mcp/:id/offer",
        summary: "List the resources and prompts of an MCP server",
        access: "user",
        params: Id,
        returns: Offer,
        fails: [401, 404, 502, 504],
      },
      async ({ caller, params, request }) => {
        const server = await findServer(servers, caller, params.id);
        return await readOffer(open(server, caller), request.signal);
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/mcp/:id/resources/attach",
        summary: "Read a resource and store it as a file of the caller, for a message",
        access: "permission:chat.file_upload",
        params: Id,
        body: z.object({
          uri: z.string().min(1).max(4000),
          name: z.string().trim().min(1).max(200).optional(),
        }),
        returns: z.object({ id: z.string(), name: z.string(), content_type: z.string() }),
        fails: [400, 401, 404, 502, 503, 504],
      },
      async ({ caller, params, body, request }) => {
        if (files === undefined) {
          throw new AppError("unavailable", "Files are switched off here.");
        }
        const server = await findServer(servers, caller, params.id);
        const { text, type } = await readResource(open(server, caller), body.uri, request.signal);
        const name = toFileName(body.name ?? body.uri, type);
        const bytes = Readable.from([Buffer.from(text)]);
        const meta = { source: `${server.name}: ${body.uri}` };
        const file = await files.create(caller, { filename: name, contentType: type, bytes, meta });
        await files.process(file, text);
        await files.settled(file, AbortSignal.any([request.signal, AbortSignal.timeout(patience)]));
        return { id: file.id, name, content_type: type };
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/mcp/:id/prompts/fill",
        summary: "Fill in a prompt of an MCP server",
        access: "user",
        params: Id,
        body: z.object({
          name: z.string().min(1).max(500),
          arguments: z.record(z.string().max(200), z.string().max(50_000)).default({}),
        }),
        returns: z.object({ text: z.string() }),
        fails: [401, 404, 502, 504],
      },
      async ({ caller, params, body, request }) => {
        const server = await findServer(servers, caller, params.id);
        return { text: await readPrompt(open(server, caller), body, request.signal) };
      },
    ),
  ] as const;
}

function within(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(patience)]);
}

async function ask<R>(
  session: ServerSession,
  signal: AbortSignal,
  run: Parameters<typeof session.use<R>>[0],
): Promise<R> {
  try {
    return await session.use(run, within(signal));
  } catch (error) {
    signal.throwIfAborted();
    throw toServerError(error);
  }
}

async function readOffer(session: ServerSession, signal: AbortSignal) {
  const { id, name } = session.server;
  const [resources, prompts] = await ask(session, signal, (connection) =>
    Promise.all([connection.resources.read(), connection.prompts.read()]),
  );
  return {
    server: { id, name },
    resources: resources.slice(0, most).map((one) => ({
      uri: one.uri,
      name: one.title ?? one.name,
      description: one.description ?? "",
      type: one.mimeType ?? "",
    })),
    prompts: prompts.slice(0, most).map((one) => ({
      name: one.name,
      title: one.title ?? one.name,
      description: one.description ?? "",
      arguments: (one.arguments ?? []).map(({ name: key, description, required }) => ({
        name: key,
        ...(description !== undefined && { description }),
        required: required === true,
      })),
    })),
  };
}

async function readResource(session: ServerSession, uri: string, signal: AbortSignal) {
  const { contents } = await ask(session, signal, ({ client }) => client.readResource({ uri }));
  const texts = contents.flatMap((one) => ("text" in one ? [one.text] : []));
  if (texts.length === 0) {
    throw new AppError("invalid", "This resource is not a text. Only texts can go with a message.");
  }
  return { text: truncate(texts.join("\n\n")), type: contents[0]?.mimeType ?? "text/plain" };
}

async function readPrompt(
  session: ServerSession,
  request: { readonly name: string; readonly arguments: Record<string, string> },
  signal: AbortSignal,
): Promise<string> {
  const { messages } = await ask(session, signal, ({ client }) => client.getPrompt(request));
  const texts = messages.flatMap(({ content }) => {
    if (content.type === "text") {
      return [content.text];
    }
    return content.type === "resource" && "text" in content.resource ? [content.resource.text] : [];
  });
  return truncate(texts.join("\n\n"));
}

/** Slashes part paths in addresses, and would be no name of a file. */
function toFileName(title: string, type: string): string {
  const name = title.split(/[/\\]/).findLast((part) => part !== "") ?? "resource";
  const ending = type === "text/markdown" ? "md" : type === "application/json" ? "json" : "txt";
  return name.includes(".") ? name : `${name}.${ending}`;
}
