import { AppError } from "#kernel/errors.ts";
import type { AppParts } from "../parts.ts";
import { limits, Manifest } from "../schema.ts";
import { checkWishes, requireUrl } from "./check-manifest.ts";

/** Milliseconds within which a program has to show its manifest. */
const answerMs = 10_000;

/** Loads a manifest from a program's address, for an administrator to look at. Nothing is stored. */
export async function loadManifest(
  { egress, privateOrigins }: Pick<AppParts, "egress" | "privateOrigins">,
  address: string,
  signal: AbortSignal,
): Promise<{ manifest: Manifest; manifest_url: string }> {
  const url = requireUrl("url", address);
  const read = async () => {
    const answer = await egress.fetch(url, {
      trust: "user",
      allowedOrigins: privateOrigins(),
      headers: { accept: "application/json" },
      redirects: false,
      timeoutMs: answerMs,
      maxBytes: limits.manifestBytes,
      signal,
    });
    return { answer, text: await answer.text() };
  };
  const { answer, text } = await read().catch((error: unknown) => {
    signal.throwIfAborted();
    // Whatever is wrong, it is the address that the administrator wrote.
    throw error instanceof AppError ? new AppError("invalid", error.message) : error;
  });
  if (!answer.ok) {
    throw new AppError("invalid", `The address answered ${answer.status} in the place of a manifest.`);
  }
  const parsed = Manifest.safeParse(parse(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new AppError(
      "invalid",
      `The manifest is not right: ${issue?.path.join(".") || "it"}: ${issue?.message}`,
    );
  }
  const manifest = parsed.data;
  const target = manifest.url ? requireUrl("url", manifest.url, url) : null;
  checkWishes({ ...manifest, url: target });
  return { manifest: { ...manifest, url: target }, manifest_url: url };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new AppError("invalid", "The address answered with something that is no JSON.");
  }
}
