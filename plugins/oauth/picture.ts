import type { Egress } from "#kernel/egress/egress.ts";
import type { Logger } from "#kernel/log.ts";

const types = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const maxBytes = 1024 * 1024;
const timeoutMs = 5000;

export interface PictureSource {
  readonly url: string;
  /** Shown to the picture's host where that is the provider's own. */
  readonly accessToken: string | undefined;
  readonly egress: Pick<Egress, "fetch">;
  readonly log: Logger;
}

/**
 * A picture as a `data:` address; undefined when there is none. The address is the person's own word: it may lead to no
 * private host unless an administrator set it, and nothing that comes of it stops the sign-in.
 */
export async function fetchPicture({
  url,
  accessToken,
  egress,
  log,
}: PictureSource): Promise<string | undefined> {
  try {
    const response = await egress.fetch(url, {
      trust: accessToken === undefined ? "user" : "operator",
      redirects: accessToken === undefined,
      headers: accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` },
      timeoutMs,
      maxBytes,
    });
    const type = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
    if (!response.ok || !types.has(type)) {
      await response.body?.cancel();
      return undefined;
    }
    return `data:${type};base64,${Buffer.from(await response.arrayBuffer()).toString("base64")}`;
  } catch (error) {
    log.info({ err: error }, "a provider's picture of a person could not be read");
    return undefined;
  }
}
