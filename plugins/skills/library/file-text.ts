/** The text of a file; null for bytes that are none. */
export function toText(content: Uint8Array): string | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(content);
    return text.includes("\u0000") ? null : text;
  } catch {
    return null;
  }
}
