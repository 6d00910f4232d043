import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";

/** An image that a message names by its address. */
export interface ImageReference {
  readonly url: string;
  /** Where it stands in the request. */
  readonly field: string;
}

/** Gives the base64 of images, in their order. */
export type ReadImages = (images: readonly ImageReference[]) => Promise<readonly string[]>;

const largestImage = 20 * 1024 * 1024;
/** Different addresses that one request may have fetched. */
const mostImages = 20;
/** Bytes of base64 that fetched images may add to one request, each as often as it is named. */
const largestTotal = 100 * 1024 * 1024;
/** Images fetched at the same time. */
const atOnce = 4;
const fetchTimeLimit = 30_000;

/**
 * Reads images of messages: data URIs as they stand, other addresses over the guarded client, since whoever wrote the
 * message chose them (promise S73). Nothing is fetched unless all of them can be used. Throws `invalid` naming the field
 * for what is no image, and for images that are too many or too large together.
 */
export function createImageReader(egress: Egress, signal: AbortSignal): ReadImages {
  return async (images) => {
    const inline = images.map((image) => (isAddress(image) ? undefined : fromDataUri(image)));
    const fetched = await fetchAll(images.filter(isAddress), (image) => fetchImage(egress, image, signal));
    return images.map(({ url }, at) => inline[at] ?? (fetched.get(url) as string));
  };
}

function isAddress({ url }: ImageReference): boolean {
  return /^https?:\/\//i.test(url);
}

function fromDataUri({ url, field }: ImageReference): string {
  if (!/^data:/i.test(url)) {
    throw new AppError("invalid", `${field}: must be a data URI or an http or https address.`);
  }
  const comma = url.indexOf(",");
  const head = url.slice("data:".length, Math.max(comma, 0)).toLowerCase();
  const base64 = url.slice(comma + 1);
  if (!head.startsWith("image/") || !head.endsWith(";base64") || !/^[\w+/=-]+$/.test(base64)) {
    throw new AppError("invalid", `${field}: must be an image in base64.`);
  }
  return base64;
}

/** The base64 of every address, fetched once and a few at a time. */
async function fetchAll(
  images: readonly ImageReference[],
  fetchOne: (image: ImageReference) => Promise<string>,
): Promise<Map<string, string>> {
  const fetched = new Map<string, string>();
  const places = Map.groupBy(images, ({ url }) => url);
  const firsts = [...places.values()].map(([first]) => first as ImageReference);
  const surplus = firsts[mostImages];
  if (surplus !== undefined) {
    throw new AppError("invalid", `${surplus.field}: more than ${mostImages} images cannot be fetched.`);
  }
  let total = 0;
  for (let at = 0; at < firsts.length; at += atOnce) {
    const group = firsts.slice(at, at + atOnce);
    const read = await Promise.all(group.map(fetchOne));
    group.forEach(({ url, field }, index) => {
      const base64 = read[index] as string;
      total += base64.length * (places.get(url) as ImageReference[]).length;
      if (total > largestTotal) {
        throw new AppError("invalid", `${field}: the images are larger than ${largestTotal} bytes together.`);
      }
      fetched.set(url, base64);
    });
  }
  return fetched;
}

async function fetchImage(
  egress: Egress,
  { url, field }: ImageReference,
  signal: AbortSignal,
): Promise<string> {
  try {
    const response = await egress.fetch(url, {
      trust: "user",
      signal,
      timeoutMs: fetchTimeLimit,
      maxBytes: largestImage,
    });
    if (!response.ok || !/^image\//i.test(response.headers.get("content-type") ?? "")) {
      await response.body?.cancel();
      throw new AppError("upstream", response.ok ? "is no image" : `answers ${response.status}`);
    }
    return Buffer.from(await response.arrayBuffer()).toString("base64");
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof AppError ? error.message.replace(/\.$/, "") : "cannot be read";
    throw new AppError("invalid", `${field}: the image cannot be used (${reason}).`, { cause: error });
  }
}
