import { AppError } from "#kernel/errors.ts";
import { findContainer, toContentType } from "../container.ts";
import type { AudioSettings } from "../config.ts";
import type { Container } from "../service.ts";

export interface Accepted {
  readonly container: Container;
  readonly contentType: string;
}

/**
 * The format of a recording by its first bytes. Throws `invalid` for bytes that are no sound, and for types and endings
 * that administrators do not take (AUDIO_STT_SUPPORTED_CONTENT_TYPES, AUDIO_STT_ALLOWED_EXTENSIONS).
 */
export function requireAccepted(
  head: Uint8Array,
  said: { readonly filename: string; readonly contentType: string },
  settings: Pick<AudioSettings, "sttTypes" | "sttEndings">,
): Accepted {
  const container = findContainer(head);
  if (container === undefined) {
    throw new AppError(
      "invalid",
      "file: is no recording that can be read: WAV, MP3, Ogg, FLAC, M4A, MP4, WebM, AAC, AIFF, AMR or AVI.",
    );
  }
  const contentType = toContentType(container, said.contentType);
  const type = contentType.split(";")[0]!.trim().toLowerCase();
  if (settings.sttTypes.length > 0 && !settings.sttTypes.some((pattern) => fits(type, pattern))) {
    throw new AppError("invalid", `file: ${type} is not taken here, but ${settings.sttTypes.join(", ")}.`);
  }
  const ending = /\.([^.]+)$/.exec(said.filename)?.[1]?.toLowerCase() ?? "";
  const endings = settings.sttEndings.map((each) => each.replace(/^\./, "").toLowerCase());
  if (endings.length > 0 && !endings.includes(ending)) {
    throw new AppError("invalid", `file: names must end in ${endings.map((each) => `.${each}`).join(", ")}.`);
  }
  return { container, contentType };
}

/** A pattern is a media type, or a family such as `audio/*`. */
function fits(type: string, pattern: string): boolean {
  const wanted = pattern.trim().toLowerCase();
  return wanted.endsWith("/*") ? type.startsWith(wanted.slice(0, -1)) : type === wanted;
}
