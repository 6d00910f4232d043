import { openAsBlob } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { AwsClient } from "aws4fetch";
import { StorageError, UnavailableError } from "../errors.ts";
import { regionOf, toAddress } from "./address.ts";
import type { BlobOptions, Blobs } from "./store.ts";
import { receive, sweep } from "./temporary.ts";

/** Limit of S3 for one request. */
const maxObjectBytes = 5 * 1024 ** 3;

/**
 * Bytes in an S3 bucket, over the signing client of unstorage's driver. The driver itself cannot be used:
 * it holds whole values in memory, knows no ranges and lists the first thousand keys only.
 * An upload is written to a temporary file first, so that its size and sum are known before it is sent;
 * the store keeps an object only when all of it arrived with that sum.
 */
export async function openBucket(options: BlobOptions, folder: string): Promise<Blobs> {
  const temporary = join(folder, ".incoming");
  const prefix = (options.s3KeyPrefix ?? "").replace(/^\/+|\/+$/g, "");
  const toName = (key: string) => (prefix === "" ? key : `${prefix}/${key}`);
  const base = toAddress(options);
  const send = createSender(options);
  const urlOf = (key: string) => `${base}/${toName(key).split("/").map(encodeURIComponent).join("/")}`;
  return {
    maxBytes: maxObjectBytes,
    async write(key, bytes, { signal } = {}) {
      const { path, size, sha256 } = await receive(temporary, bytes, signal);
      try {
        const headers = new Headers({ "x-amz-content-sha256": sha256 });
        if (options.s3EnableTagging) {
          headers.set("x-amz-tagging", `sha256=${sha256}`);
        }
        const body = await openAsBlob(path);
        await drain(await send(urlOf(key), { method: "PUT", body, headers, signal }));
      } finally {
        await rm(path, { force: true });
      }
      return { size, sha256 };
    },
    async read(key, range) {
      const headers = range ? { range: `bytes=${range.start}-${range.end}` } : undefined;
      const response = await send(urlOf(key), { headers }, [404, 416]);
      if (response.status === 404 || response.status === 416) {
        await drain(response);
        return response.status === 416 ? Readable.from([]) : undefined;
      }
      return response.body ? Readable.fromWeb(response.body as ReadableStream) : Readable.from([]);
    },
    async size(key) {
      const response = await send(urlOf(key), { method: "HEAD" }, [404]);
      return response.status === 404 ? undefined : Number(response.headers.get("content-length"));
    },
    remove: async (key) => await drain(await send(urlOf(key), { method: "DELETE" }, [404])),
    async keys(start = "") {
      const keys: string[] = [];
      for (let token: string | undefined = ""; token !== undefined;) {
        const query = new URLSearchParams({ "list-type": "2", prefix: toName(start) });
        if (token !== "") {
          query.set("continuation-token", token);
        }
        const text = await (await send(`${base}/?${query}`, {})).text();
        keys.push(...listTags(text, "Key"));
        token = listTags(text, "NextContinuationToken")[0];
      }
      return keys.map((name) => (prefix === "" ? name : name.slice(prefix.length + 1))).toSorted();
    },
    sweepTemporary: (maxAgeMs) => sweep(temporary, maxAgeMs),
  };
}

type Send = (url: string, init: RequestInit, accepted?: readonly number[]) => Promise<Response>;

/** Sends signed requests; rejects with UnavailableError when the store does not serve now, else StorageError. */
function createSender(options: BlobOptions): Send {
  const { s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey } = options;
  if (!accessKeyId || !secretAccessKey) {
    throw new StorageError("STORAGE_PROVIDER is s3, so S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY are needed");
  }
  const client = new AwsClient({ accessKeyId, secretAccessKey, region: regionOf(options), service: "s3" });
  return async (url, init, accepted = []) => {
    const request = await client.sign(url, init);
    let response: Response;
    try {
      response = await fetch(request, { signal: init.signal });
    } catch (error) {
      init.signal?.throwIfAborted();
      throw new UnavailableError(`The object store cannot be reached: ${reasonOf(error)}`, { cause: error });
    }
    if (response.ok || accepted.includes(response.status)) {
      return response;
    }
    const code = listTags(await response.text(), "Code")[0] ?? response.statusText;
    const message = `The object store answered ${response.status} (${code})`;
    const busy = response.status >= 500 || response.status === 429;
    throw busy ? new UnavailableError(message) : new StorageError(message);
  };
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error && cause.message !== "" ? cause.message : message;
}

/** Reads an answer to its end, so that its connection can be used again. */
async function drain(response: Response): Promise<void> {
  await response.arrayBuffer();
}

function listTags(xml: string, tag: string): string[] {
  const found = xml.matchAll(new RegExp(`<${tag}>([^<]*)</${tag}>`, "g"));
  return Array.from(found, ([, text = ""]) => unescape(text));
}

function unescape(text: string): string {
  const named: Record<string, string> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
  return text.replace(/&(?:#(\d+)|(\w+));/g, (whole, code?: string, name?: string) =>
    code ? String.fromCodePoint(Number(code)) : (named[name ?? ""] ?? whole),
  );
}
