/** A part of what a model says while it may write code to be run. */
export type CodePiece =
  | { readonly kind: "text" | "code"; readonly text: string }
  | { readonly kind: "open"; readonly lang: string }
  | { readonly kind: "close" };

const opener = "<code_interpreter";
const closer = "</code_interpreter>";
/** An opening tag with longer attributes is text. */
const maxTag = 300;

/**
 * Splits a streamed text into text and the code between `<code_interpreter …>` and `</code_interpreter>`. A tag behind a
 * backtick is quoted and stays text; a tag that is never closed runs to the end.
 */
export class CodeReader {
  #isInside = false;
  #buffer = "";
  #last = "";

  /** The pieces that are certain; a possible beginning of a tag is buffered until more text comes. */
  push(text: string): CodePiece[] {
    this.#buffer += text;
    const pieces: CodePiece[] = [];
    for (;;) {
      const piece = this.#isInside ? this.#readCode() : this.#readText();
      if (piece === undefined) {
        return pieces;
      }
      pieces.push(piece);
    }
  }

  /** Ends the text and flushes the buffer. */
  end(): CodePiece[] {
    const [kind, text] = [this.#isInside ? ("code" as const) : ("text" as const), this.#buffer];
    this.#isInside = false;
    this.#buffer = "";
    this.#last = "";
    return text === "" ? [] : [{ kind, text }];
  }

  #readText(): CodePiece | undefined {
    const at = this.#buffer.indexOf(opener);
    if (at !== 0) {
      return this.#take("text", at < 0 ? this.#buffer.length - overlap(this.#buffer, opener) : at);
    }
    const next = this.#buffer[opener.length];
    const end = this.#buffer.indexOf(">");
    if (next === undefined || (/[\s>]/.test(next) && end < 0 && this.#buffer.length <= maxTag)) {
      return undefined;
    }
    if (this.#last === "`" || !/[\s>]/.test(next) || end < 0 || end > maxTag) {
      return this.#take("text", opener.length);
    }
    const tag = this.#buffer.slice(0, end);
    this.#buffer = this.#buffer.slice(end + 1);
    this.#isInside = true;
    return { kind: "open", lang: /\blang=["']?([\w+-]{1,30})/.exec(tag)?.[1]?.toLowerCase() ?? "python" };
  }

  #readCode(): CodePiece | undefined {
    const at = this.#buffer.indexOf(closer);
    if (at !== 0) {
      return this.#take("code", at < 0 ? this.#buffer.length - overlap(this.#buffer, closer) : at);
    }
    this.#buffer = this.#buffer.slice(closer.length);
    this.#isInside = false;
    return { kind: "close" };
  }

  #take(kind: "text" | "code", length: number): CodePiece | undefined {
    if (length === 0) {
      return undefined;
    }
    const text = this.#buffer.slice(0, length);
    this.#buffer = this.#buffer.slice(length);
    this.#last = text.at(-1) ?? "";
    return { kind, text };
  }
}

/** Number of characters at the end of `text` that may be the beginning of `tag`. */
function overlap(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(tag.slice(0, length))) {
      return length;
    }
  }
  return 0;
}

/** Code as it runs: models put it into a fence as well. */
export function toPlainCode(text: string): string {
  const lines = text.trim().split("\n");
  const isFenced = lines.length > 1 && /^```\w*$/.test(lines[0]?.trim() ?? "");
  const inner = isFenced ? lines.slice(1, lines.at(-1)?.trim() === "```" ? -1 : undefined) : lines;
  return inner.join("\n").trimEnd();
}
