import { lookup } from "mrmime";
import { AppError } from "#kernel/errors.ts";
import type { ToolFile } from "#kernel/tools/output.ts";
import { toFileName } from "../run-result.ts";
import type { JupyterClient } from "./client.ts";

/** A file's state in a folder: what changes when it is written. */
type Listing = ReadonlyMap<string, string>;

/** The working folder of a kernel, through the server's contents. */
export interface KernelFolder {
  /** Makes it, and puts files in that are not there. */
  fill(files: readonly ToolFile[]): Promise<void>;
  list(): Promise<Listing>;
  /** The files that came or changed since a listing. */
  changedSince(before: Listing): Promise<ToolFile[]>;
}

interface Entry {
  readonly name: string;
  readonly type: string;
  readonly size: number | null;
  readonly last_modified: string;
}

const maxFiles = 20;
const maxFileBytes = 20 * 1024 * 1024;

/** Opens the folder below the server's root; servers without contents, such as kernel gateways, have an empty one. */
export function openFolder(client: JupyterClient, path: string): KernelFolder {
  const at = (...names: string[]) =>
    `/api/contents/${[...path.split("/"), ...names].map(encodeURIComponent).join("/")}`;
  const list = async (): Promise<Listing> => {
    const found = (await tolerate(client.call(`${at()}?content=1`))) as { content?: Entry[] } | undefined;
    const entries = Array.isArray(found?.content) ? found.content : [];
    const files = entries.filter(({ type }) => type !== "directory");
    return new Map(files.map(({ name, size, last_modified: changed }) => [name, `${changed} ${size}`]));
  };
  return {
    list,
    async fill(files) {
      await makeFolders(client, path);
      const known = await list();
      for (const { name, bytes } of files) {
        if (!known.has(toFileName(name))) {
          const content = Buffer.from(bytes).toString("base64");
          const body = { type: "file", format: "base64", content };
          await tolerate(client.call(at(toFileName(name)), { method: "PUT", body }));
        }
      }
    },
    async changedSince(before) {
      const now = await list();
      const changed = [...now].filter(([name, state]) => before.get(name) !== state).map(([name]) => name);
      const read = changed.slice(0, maxFiles).map(async (name) => {
        const size = Number(now.get(name)?.split(" ").at(-1));
        return size > maxFileBytes ? undefined : await readFile(client, at(name), name);
      });
      return (await Promise.all(read)).filter((file) => file !== undefined);
    },
  };
}

async function makeFolders(client: JupyterClient, path: string): Promise<void> {
  const parts = path.split("/");
  for (let count = 1; count <= parts.length; count += 1) {
    const part = parts.slice(0, count).map(encodeURIComponent).join("/");
    const known = await tolerate(client.call(`/api/contents/${part}?content=0`));
    if (known === undefined) {
      await tolerate(client.call(`/api/contents/${part}`, { method: "PUT", body: { type: "directory" } }));
    }
  }
}

async function readFile(client: JupyterClient, path: string, name: string): Promise<ToolFile | undefined> {
  const file = (await tolerate(client.call(`${path}?type=file&format=base64&content=1`))) as
    | { content?: unknown }
    | undefined;
  return typeof file?.content === "string"
    ? {
        name,
        contentType: lookup(name) ?? "application/octet-stream",
        bytes: Buffer.from(file.content, "base64"),
      }
    : undefined;
}

/** Files are extra: what goes wrong with them does not keep code from running. */
async function tolerate(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof AppError) {
      return undefined;
    }
    throw error;
  }
}
