import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import type { InputMessage, ToolResultBlock, TranslatedRequest } from "../schema.ts";

const largestDocument = 32 * 1024 * 1024;
const mostDocuments = 20;
/** Characters of all documents in the request that goes out; a document counts as often as it is named. */
const longestTotal = 64 * 1024 * 1024;
const fetchTimeLimit = 30_000;

type Place = readonly (string | number)[];
type Block = InputMessage["content"][number] | ToolResultBlock["content"][number];

/** Data URIs of documents, by their addresses. */
export type Documents = ReadonlyMap<string, string>;

/**
 * Reads the documents that a request names by address: the common format has no place for addresses. Users choose them,
 * so they are read over the guarded client (promise S73). Throws `unprocessable`, naming the place, for a document that
 * cannot be read, and for more than fit into a request.
 */
export async function readDocuments(
  { messages }: Pick<TranslatedRequest, "messages">,
  egress: Egress,
  signal: AbortSignal,
): Promise<Documents> {
  const named = findAddresses(messages);
  if (named.size === 0) {
    return new Map();
  }
  const [extra] = [...named.values()].slice(mostDocuments);
  if (extra) {
    throw refusal(extra[0], `more than ${mostDocuments} documents cannot be read`);
  }
  const stop = new AbortController();
  let room = longestTotal;
  const read = async ([url, places]: [string, readonly Place[]]) => {
    const data = await fetchDocument(egress, {
      url,
      place: places[0],
      signal: AbortSignal.any([signal, stop.signal]),
    });
    const tooMuch = places[Math.floor(room / data.length)];
    if (tooMuch) {
      throw refusal(tooMuch, `the documents are more than ${longestTotal} characters together, in base64`);
    }
    room -= places.length * data.length;
    return [url, data] as const;
  };
  return new Map(await Promise.all([...named].map(read)).finally(() => stop.abort()));
}

/** The places of each address; results of tools hold documents, too. */
function findAddresses(messages: TranslatedRequest["messages"]): Map<string, Place[]> {
  const found = new Map<string, Place[]>();
  const look = (block: Block, place: Place): void => {
    if (block.type === "tool_result") {
      block.content.forEach((inner, at) => look(inner, [...place, "content", at]));
    } else if (block.type === "document" && block.source.type === "url") {
      const places = found.get(block.source.url) ?? [];
      places.push([...place, "source", "url"]);
      found.set(block.source.url, places);
    }
  };
  messages.forEach(({ content }, index) =>
    content.forEach((block, at) => look(block, ["body", "messages", index, "content", at])),
  );
  return found;
}

interface Fetching {
  readonly url: string;
  readonly place: Place | undefined;
  readonly signal: AbortSignal;
}

async function fetchDocument(egress: Egress, { url, place = [], signal }: Fetching): Promise<string> {
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
    return `data:application/pdf;base64,${bytes.toString("base64")}`;
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof AppError ? error.message.replace(/\.$/, "") : "cannot be read";
    throw refusal(place, `the document cannot be used (${reason})`);
  }
}

function refusal(place: Place = [], msg: string): AppError {
  return new AppError("unprocessable", [{ type: "value_error", loc: [...place], msg }]);
}
