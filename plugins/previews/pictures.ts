import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import { findPictureProblem, unreadable } from "#kernel/picture-limits.ts";
import { type PictureType, sniffPicture } from "#kernel/picture-type.ts";

const mostBytes = 10 * 1024 * 1024;
const timeoutMs = 15_000;
/** Pictures that one person may have on their way at the same time. */
const mostAtOnce = 6;

export interface RemotePicture {
  readonly type: `image/${PictureType}`;
  readonly bytes: Buffer;
}

export type Pictures = ReturnType<typeof createPictures>;

/**
 * Pictures of other hosts, fetched for one reader who asked for one of them: whoever wrote the message chose the
 * address, so private addresses are refused (promise S73), nothing of the reader goes along, and only pictures whose
 * first bytes say so come back.
 */
export function createPictures(egress: Pick<Egress, "fetch">) {
  const underway = new Map<string, number>();

  return {
    /** Throws `invalid` for what is no picture, `rate_limited` for too many at once, and what `egress` throws. */
    async fetch(userId: string, url: string, signal: AbortSignal): Promise<RemotePicture> {
      const count = underway.get(userId) ?? 0;
      if (count >= mostAtOnce) {
        throw new AppError(
          "rate_limited",
          "Other pictures are still on their way. Try again when they are here.",
        );
      }
      underway.set(userId, count + 1);
      try {
        return await fetchPicture(egress, url, signal);
      } finally {
        const left = (underway.get(userId) ?? 1) - 1;
        if (left > 0) {
          underway.set(userId, left);
        } else {
          underway.delete(userId);
        }
      }
    },
  };
}

async function fetchPicture(
  egress: Pick<Egress, "fetch">,
  url: string,
  signal: AbortSignal,
): Promise<RemotePicture> {
  const response = await egress.fetch(url, {
    trust: "user",
    signal,
    timeoutMs,
    maxBytes: mostBytes,
    headers: { accept: "image/png, image/jpeg, image/webp, image/gif" },
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new AppError("upstream", `The host answered with status ${response.status}.`);
  }
  const bytes = Buffer.from(await response.arrayBuffer());
  const type = sniffPicture(bytes);
  if (type === undefined) {
    throw new AppError("invalid", "The address holds no PNG, JPEG, WebP or GIF picture.");
  }
  const problem = findPictureProblem(bytes, type);
  // A broken one harms nobody: browsers show nothing for it.
  if (problem !== undefined && problem !== unreadable) {
    throw new AppError("invalid", `The picture ${problem}.`);
  }
  return { type: `image/${type}`, bytes };
}
