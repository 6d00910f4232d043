import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { Files } from "#plugins/files/service.ts";
import type { Scopes } from "../access/scope.ts";
import { BatchAnswer, BatchForm, FileForm, Processed, TextForm } from "../schema.ts";
import type { Retrieval } from "../service.ts";
import { below, type Prefix } from "./prefix.ts";

export interface ProcessRouteParts {
  readonly files: Files;
  readonly service: Retrieval;
  readonly scopes: Scopes;
}

const Overwrite = z.object({ overwrite: z.stringbool().meta({ type: "boolean" }).optional() });

/** Putting files and texts into the index (contract §6.3). */
export function processRoutes(prefix: Prefix, parts: ProcessRouteParts) {
  return [
    defineRoute(
      {
        method: "POST",
        path: below(prefix, "/process/file"),
        summary: "Index a file, and put it into a collection",
        access: "user",
        body: FileForm,
        returns: Processed,
        fails: [400, 404],
      },
      ({ body, caller, request }) =>
        processFile(parts, caller, {
          fileId: body.file_id,
          content: body.content ?? undefined,
          collection: body.collection_name ?? undefined,
          signal: request.signal,
        }),
    ),
    defineRoute(
      {
        method: "POST",
        path: below(prefix, "/process/text"),
        summary: "Index a text",
        access: "user",
        body: TextForm,
        query: Overwrite,
        returns: Processed,
        fails: [400, 404],
      },
      async ({ body, query, caller }) => {
        const { collection } = await parts.service.addText({
          owner: caller,
          name: body.name,
          content: body.content,
          ...(body.collection_name ? { collection: body.collection_name } : {}),
          ...(query.overwrite === undefined ? {} : { overwrite: query.overwrite }),
        });
        return {
          status: true as const,
          collection_name: collection,
          filename: body.name,
          content: body.content,
        };
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: below(prefix, "/process/files/batch"),
        summary: "Put files into a collection",
        access: "admin",
        body: BatchForm,
        returns: BatchAnswer,
        fails: [400, 404],
      },
      async ({ body, caller, request: { signal } }) => {
        const collection = await parts.scopes.writable(caller, body.collection_name);
        const entries = [];
        for (const { id } of body.files) {
          entries.push(await tryFile(parts, caller, { fileId: id, content: undefined, collection, signal }));
        }
        return {
          results: entries.filter(({ status }) => status === "completed"),
          errors: entries.filter(({ status }) => status === "failed"),
        };
      },
    ),
  ] as const;
}

interface FileOrder {
  readonly fileId: string;
  /** Replaces the text of the file. */
  readonly content: string | undefined;
  readonly collection: string | undefined;
  readonly signal: AbortSignal;
}

async function processFile(
  { files, service, scopes }: ProcessRouteParts,
  caller: Principal,
  { fileId, content, collection, signal }: FileOrder,
) {
  const file = await files.load(caller, fileId, content === undefined ? "read" : "write");
  const name = collection === undefined ? undefined : await scopes.writable(caller, collection);
  const isIndexed = (await service.progress([file.id])).has(file.id);
  if (content !== undefined || (!isIndexed && file.data["status"] !== "pending")) {
    await files.process(file, content);
  }
  const settled = await files.settled(file, signal);
  const text = settled.data["content"];
  if (settled.data["status"] === "failed" || typeof text !== "string" || text.trim() === "") {
    throw new AppError("invalid", String(settled.data["error"] ?? "The content provided is empty."));
  }
  if (name !== undefined) {
    await service.link(name, [file.id]);
  }
  return {
    status: true as const,
    collection_name: name ?? `file-${file.id}`,
    filename: settled.filename,
    content: text,
  };
}

async function tryFile(parts: ProcessRouteParts, caller: Principal, order: FileOrder) {
  try {
    await processFile(parts, caller, order);
    return { file_id: order.fileId, status: "completed" as const };
  } catch (error) {
    if (!(error instanceof AppError)) {
      throw error;
    }
    return { file_id: order.fileId, status: "failed" as const, error: String(error.detail) };
  }
}
