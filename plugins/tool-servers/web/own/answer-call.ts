import { type EventEnvelope, socket } from "#plugins/web/kit/stores/socket.svelte.ts";
import { type Bag, toBag, toText } from "../openapi/bag.ts";
import { toRequest } from "../openapi/request.ts";
import { ownServers, toAuthorization } from "./own-servers.svelte.ts";

const patienceMs = 120_000;
const largestText = 2 * 1024 * 1024;
const largestPicture = 4 * 1024 * 1024;

/** Calls one function of a server of the person's own, as a reply asks for it (contract §3.4, `execute:tool`). */
export async function answer(envelope: EventEnvelope): Promise<unknown> {
  const call = toBag(envelope.data.data);
  if (call["session_id"] !== undefined && call["session_id"] !== socket.id) {
    // Another tab is meant.
    return undefined;
  }
  try {
    await ownServers.load();
    return await run(toText(toBag(call["server"])["url"]), toText(call["name"]), toBag(call["params"]));
  } catch (error) {
    return { error: (error as Error).message };
  }
}

async function run(url: string, name: string, parameters: Bag): Promise<unknown> {
  const found = ownServers.find(url, name);
  if (found === undefined) {
    return { error: "This browser does not know that tool server. Load the page anew." };
  }
  const request = toRequest(found.operation, found.offer.base, parameters);
  // oxlint-disable-next-line no-restricted-globals -- the person's own server is called by the browser, not the platform
  const response = await fetch(request.url, {
    method: request.method,
    credentials: "omit",
    redirect: "error",
    headers: {
      ...(request.contentType !== undefined && { "content-type": request.contentType }),
      ...request.headers,
      ...toAuthorization(found.own),
    },
    ...(request.body !== undefined && { body: request.body }),
    signal: AbortSignal.timeout(patienceMs),
  });
  const type = response.headers.get("content-type") ?? "";
  if (response.ok && type.startsWith("image/")) {
    return await toDataAddress(await response.blob());
  }
  const text = await response.text();
  if (!response.ok) {
    return { error: `The server refused with status ${response.status}: ${text.slice(0, 2000)}` };
  }
  const value =
    text.length > largestText ? `${text.slice(0, largestText)}\n[output truncated]` : toValue(text, type);
  const disposition = response.headers.get("content-disposition") ?? "";
  return [value, { "content-type": type, "content-disposition": disposition }];
}

function toValue(text: string, type: string): unknown {
  try {
    return /json/i.test(type) ? (JSON.parse(text) as unknown) : text;
  } catch {
    return text;
  }
}

async function toDataAddress(picture: Blob): Promise<unknown> {
  if (picture.size > largestPicture) {
    return { error: "The picture that the server answered with is too large." };
  }
  return await new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(reader.result));
    reader.addEventListener("error", () => reject(reader.error as Error));
    reader.readAsDataURL(picture);
  });
}
