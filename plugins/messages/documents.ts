import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import type { MessageRequest } from "./schema.ts";

const largestDocument = 32 * 1024 * 1024;
const mostDocuments = 20;
const fetchTimeLimit = 30_000;

type Bag = Readonly<Record<string, unknown>>;
type Read = (url: string, place: string) => Promise<string>;

/**
 * The request with documents that it names by address put in as data: no other format has a place for their addresses.
 * Whoever wrote the message chose them, so they are read over the guarded client (promise S73). Throws `unprocessable`,
 * naming the place, for what cannot be read.
 */
export async function withDocuments(
  body: MessageRequest,
  egress: Egress,
  signal: AbortSignal,
): Promise<MessageRequest> {
  if (!body.messages.some(({ content }) => hasAddress(content))) {
    return body;
  }
  const reads = new Map<string, Promise<string>>();
  const read: Read = (url, place) => {
    if (!reads.has(url) && reads.size >= mostDocuments) {
      throw refusal(place, `more than ${mostDocuments} documents cannot be read`);
    }
    const reading = reads.get(url) ?? fetchDocument(egress, { url, place, signal });
    reads.set(url, reading);
    return reading;
  };
  const messages = await Promise.all(
    body.messages.map(async (message, at) => ({
      ...message,
      content: await fill(message.content, `body.messages.${at}.content`, read),
    })),
  );
  return { ...body, messages };
}

/** Results of tools hold documents too. */
function hasAddress(content: unknown): boolean {
  return (
    Array.isArray(content) && content.some((block) => isNamed(block) || hasAddress(toBag(block)["content"]))
  );
}

function isNamed(block: unknown): boolean {
  const { type, source } = toBag(block);
  return type === "document" && toBag(source)["type"] === "url" && typeof toBag(source)["url"] === "string";
}

async function fill(content: unknown, place: string, read: Read): Promise<unknown> {
  if (!hasAddress(content)) {
    return content;
  }
  return Promise.all(
    (content as Bag[]).map(async (block, at) => {
      const here = `${place}.${at}`;
      if (!isNamed(block)) {
        return hasAddress(block["content"])
          ? { ...block, content: await fill(block["content"], `${here}.content`, read) }
          : block;
      }
      const data = await read(String(toBag(block["source"])["url"]), `${here}.source.url`);
      return { ...block, source: { type: "base64", media_type: "application/pdf", data } };
    }),
  );
}

interface Fetching {
  readonly url: string;
  readonly place: string;
  readonly signal: AbortSignal;
}

async function fetchDocument(egress: Egress, { url, place, signal }: Fetching): Promise<string> {
  if (!/^https?:\/\//i.test(url)) {
    throw refusal(place, "must be an http or https address");
  }
  try {
    const limits = { timeoutMs: fetchTimeLimit, maxBytes: largestDocument };
    const response = await egress.fetch(url, { trust: "user", signal, ...limits });
    const bytes = Buffer.from(await response.arrayBuffer());
    if (!response.ok || bytes.subarray(0, 5).toString("latin1") !== "%PDF-") {
      throw new AppError("upstream", response.ok ? "is no PDF" : `answers ${response.status}`);
    }
    return bytes.toString("base64");
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof AppError ? error.message.replace(/\.$/, "") : "cannot be read";
    throw refusal(place, `the document cannot be used (${reason})`);
  }
}

function refusal(place: string, msg: string): AppError {
  return new AppError("unprocessable", [{ type: "value_error", loc: place.split("."), msg }]);
}

function toBag(value: unknown): Bag {
  return typeof value === "object" && value !== null ? (value as Bag) : {};
}
