import type { ReadingLimits } from "../formats/reading.ts";
import type { ExtractedText } from "../service.ts";

/** Messages to the reading thread: the bytes piece by piece, then the order to read them. */
export type Request =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: "read"; readonly name: string; readonly type: string; readonly limits: ReadingLimits };

/** Its answer. `refused` blames the document, `failed` the reader. */
export type Reply =
  | { readonly kind: "done"; readonly found: ExtractedText | undefined }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "failed"; readonly message: string };
