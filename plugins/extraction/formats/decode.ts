/** Decodes text: by its byte order mark, a character set that the document names, UTF-8, else Windows-1252. */
export function decodeText(bytes: Uint8Array, named?: string): string {
  const mark = byteOrderMark(bytes);
  if (mark !== undefined) {
    return clean(new TextDecoder(mark).decode(bytes));
  }
  const known = named === undefined ? undefined : decoderOf(named);
  if (known) {
    return clean(known.decode(bytes));
  }
  try {
    return clean(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return clean(new TextDecoder("windows-1252").decode(bytes));
  }
}

/** No text encoding without a byte order mark puts NUL bytes into a text. */
export function isBinary(bytes: Uint8Array): boolean {
  return byteOrderMark(bytes) === undefined && bytes.subarray(0, 8192).includes(0);
}

function byteOrderMark(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) {
    return "utf-16le";
  }
  return bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : undefined;
}

function decoderOf(label: string): TextDecoder | undefined {
  try {
    return new TextDecoder(label);
  } catch {
    return undefined;
  }
}

function clean(text: string): string {
  return text.replaceAll("\u0000", "").toWellFormed();
}
