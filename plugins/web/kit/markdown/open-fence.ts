import type { Token } from "marked";
import type { Block, OpenRead } from "./block.ts";

const opening = /^( {0,3})(`{3,}(?!`)|~{3,}(?!~))([^\n]*)\n/;
const toClosing = (fence: string) => new RegExp(`^ {0,3}${fence}[~\`]* *$`);

/** Code whose fence is not closed yet. Each line is read once, so code of any length costs the same for an update. */
export class OpenFence {
  readonly #at: number;
  readonly #indent: number;
  readonly #language: string;
  readonly #closing: RegExp;
  #code = "";
  #readTo: number;

  private constructor(at: number, [all, indent, fence, info]: readonly string[]) {
    this.#at = at;
    this.#indent = indent?.length ?? 0;
    this.#language = info?.trim() ?? "";
    this.#closing = toClosing(fence ?? "");
    this.#readTo = at + (all?.length ?? 0);
  }

  /** The fence that begins here, when its first line is complete. */
  static at(at: number, source: string): OpenFence | undefined {
    const found = opening.exec(source);
    return found ? new OpenFence(at, [...found]) : undefined;
  }

  read(text: string, isComplete: boolean): OpenRead {
    const from = this.#readTo;
    for (let end = text.indexOf("\n", from); end >= 0; end = text.indexOf("\n", this.#readTo)) {
      const line = text.slice(this.#readTo, end);
      this.#readTo = end + 1;
      if (this.#closing.test(line)) {
        return { block: this.#toBlock(text, this.#code, true), end: this.#readTo, work: end - from };
      }
      this.#code += `${this.#dedent(line)}\n`;
    }
    const begun = text.slice(this.#readTo);
    const isHidden = isComplete ? this.#closing.test(begun) : /^ {0,3}[`~]*$/.test(begun);
    const code = isHidden ? this.#code : this.#code + this.#dedent(begun);
    return { block: this.#toBlock(text, code, isComplete), end: undefined, work: text.length - from };
  }

  #toBlock(text: string, code: string, isClosed: boolean): Block {
    const shown = code.endsWith("\n") ? code.slice(0, -1) : code;
    const token = { type: "code", raw: "", lang: this.#language, text: shown } as Token;
    return { at: this.#at, source: text.slice(this.#at, this.#readTo), tokens: [token], isClosed };
  }

  #dedent(line: string): string {
    const most = Math.min(this.#indent, line.length - line.trimStart().length);
    return line.slice(most);
  }
}

/** Whether a block of code is fenced and its fence is closed; the line that closes it is complete. */
export function isClosedFence(source: string): boolean {
  const fence = opening.exec(source)?.[2];
  const text = source.trimEnd();
  const last = text.slice(text.lastIndexOf("\n") + 1);
  const isWhole = /^[ \t]*\n/.test(source.slice(text.length));
  return isWhole && fence !== undefined && text.includes("\n") && toClosing(fence).test(last);
}

export const isFence = (raw: string): boolean => /^ {0,3}(`{3}|~{3})/.test(raw);
