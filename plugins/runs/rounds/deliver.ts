import { Readable } from "node:stream";
import type { Principal } from "#kernel/access/principal.ts";
import type { Logger } from "#kernel/log.ts";
import type { ToolFile, ToolOutput } from "#kernel/tools/output.ts";
import type { Files } from "#plugins/files/service.ts";
import type { Reply } from "../reply/reply.ts";

/** Files, embeds and pictures of a tool's result, as the result's item names them (contract §3.5). */
export interface Delivered {
  /** Addresses of pictures that the model gets to see. */
  readonly pictures: readonly string[];
  readonly files: readonly FileEntry[];
  readonly embeds: readonly string[];
  /** Notes for the model on files that could not be shown. */
  readonly notes: readonly string[];
}

/** A file as a message's `files` name it. */
export interface FileEntry {
  readonly type: "image" | "audio" | "video" | "file";
  /** Undefined where nothing is stored. */
  readonly id?: string;
  readonly url: string;
  readonly name: string;
  readonly content_type: string;
}

export interface DeliverOptions {
  /** Told of a file that was stored, before it is shown. */
  stored(file: FileEntry): Promise<void>;
  readonly files: Pick<Files, "create">;
  readonly log: Logger;
  readonly principal: Principal;
  readonly reply: Pick<Reply, "addFiles" | "addEmbeds" | "addSources">;
  /** False for a temporary chat: nothing of it is stored. */
  readonly stores: boolean;
}

const maxFiles = 50;
const maxEmbed = 1024 * 1024;
/** Of a temporary chat files go out with the events. */
const maxInline = 4 * 1024 * 1024;

/**
 * Shows what a tool gave besides text: files become files of the person and of the chat, embeds and sources stand with
 * the message, and clients are told of all (contract §3.4). What fails is noted; it never fails the run.
 */
export async function deliver(output: ToolOutput, options: DeliverOptions): Promise<Delivered> {
  const { reply } = options;
  const notes: string[] = [];
  const stored = await Promise.all(output.files.slice(0, maxFiles).map((file) => tryStore(file, options)));
  stored.forEach((entry, at) => {
    if (entry === undefined) {
      notes.push(`[The file ${JSON.stringify(output.files[at]?.name)} could not be kept.]`);
    }
  });
  if (output.files.length > maxFiles) {
    notes.push(`[Only the first ${maxFiles} files are shown.]`);
  }
  const files = stored.filter((entry) => entry !== undefined);
  const embeds = output.embeds.filter((embed) => Buffer.byteLength(embed) <= maxEmbed);
  if (embeds.length < output.embeds.length) {
    notes.push("[An embed of more than 1 MB is not shown.]");
  }
  reply.addFiles(files);
  reply.addEmbeds(embeds);
  reply.addSources(output.sources);
  const pictures = files.filter(({ type }) => type === "image").map(({ url }) => url);
  // Files that are stored nowhere are in their event already: once is enough for what large data they are.
  return { pictures, files: options.stores ? files : [], embeds, notes };
}

async function tryStore(file: ToolFile, options: DeliverOptions): Promise<FileEntry | undefined> {
  try {
    return options.stores ? await store(file, options) : toInline(file);
  } catch (error) {
    options.log.warn({ err: error }, "a file that a tool made could not be stored");
    return undefined;
  }
}

async function store(
  { name, contentType, bytes, onStored }: ToolFile,
  { files, principal, stored }: DeliverOptions,
): Promise<FileEntry> {
  const record = await files.create(principal, {
    filename: name,
    contentType,
    bytes: Readable.from([Buffer.from(bytes)]),
  });
  const entry = {
    type: toKind(contentType),
    id: record.id,
    url: `/api/v1/files/${record.id}/content`,
    name: record.filename,
    content_type: contentType,
  };
  await stored(entry);
  await onStored?.(record.id);
  return entry;
}

function toInline({ name, contentType, bytes }: ToolFile): FileEntry | undefined {
  return bytes.length > maxInline
    ? undefined
    : {
        type: toKind(contentType),
        url: `data:${contentType};base64,${Buffer.from(bytes).toString("base64")}`,
        name,
        content_type: contentType,
      };
}

function toKind(contentType: string): FileEntry["type"] {
  const [kind] = contentType.split("/");
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "file";
}
