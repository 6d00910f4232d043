import { Lexer, type Token, type Tokens, type TokensList } from "marked";
import type { Block } from "./block.ts";
import { groupTokens } from "./group-tokens.ts";
import { nextPiece, toPart } from "./limits.ts";
import { isClosedFence, isFence, OpenFence } from "./open-fence.ts";
import { OpenTable } from "./open-table.ts";
import { options } from "./syntax.ts";
import { finishMarks } from "./unfinished.ts";

/** From this length on, a block that cannot be cut is read anew only when it grew by a sixteenth. */
const longBlock = 3_000;
/** From this many rows on, each row of a growing table is read once. */
const longTable = 40;

/**
 * Cuts a growing text into blocks. All but the last two are never read again, and the long ones among those are cut
 * further, so the work for an update does not depend on the length so far.
 */
export class BlockReader {
  #text = "";
  #frozen: Block[] = [];
  #frozenTo = 0;
  #links: TokensList["links"] = {};
  #open: OpenFence | OpenTable | undefined;
  /** The text stands in a line that is shown as it is. */
  #isInPlainLine = false;
  /** What the next item of a list is numbered that was cut here. */
  #nextItem: number | undefined;
  #tail: readonly Block[] = [];
  #tailLength = 0;
  /** Characters that were read for the last update; for tests and figures. */
  lastWork = 0;

  read(text: string, isComplete: boolean): readonly Block[] {
    const clean = text.includes("\r") ? text.replaceAll(/\r\n?/g, "\n") : text;
    if (!clean.startsWith(this.#text)) {
      this.#begin();
    }
    this.#text = clean;
    this.lastWork = 0;
    const tail = this.#advance(isComplete);
    if (isComplete) {
      tail.forEach(({ tokens }) => this.#keepAddresses(tokens));
      this.#resolveAddresses();
    }
    return [...this.#frozen, ...tail];
  }

  #begin(): void {
    this.#frozen = [];
    this.#frozenTo = 0;
    this.#links = {};
    this.#open = undefined;
    this.#isInPlainLine = false;
    this.#nextItem = undefined;
    this.#tailLength = 0;
  }

  /** Freezes what is certain; resolves to the blocks after it. */
  #advance(isComplete: boolean): readonly Block[] {
    for (;;) {
      if (this.#open) {
        const { block, end, work } = this.#open.read(this.#text, isComplete);
        this.lastWork += work;
        if (end === undefined) {
          return [block];
        }
        this.#open = undefined;
        this.#freeze([block], end);
        continue;
      }
      const rest = this.#text.slice(this.#frozenTo);
      if (rest === "") {
        return [];
      }
      const piece = nextPiece(rest);
      if (piece.isPlain || this.#isInPlainLine) {
        const tail = this.#readPlain(rest, isComplete);
        if (tail) {
          return tail;
        }
        continue;
      }
      const isAll = piece.text.length === rest.length;
      if (isAll && !isComplete && rest.length > longBlock && rest.length < this.#tailLength * 1.0625) {
        return this.#tail;
      }
      const tail = this.#readPiece(piece.text, { isAll, isComplete, isCut: piece.isCut });
      if (tail) {
        this.#tail = tail;
        this.#tailLength = this.#text.length - this.#frozenTo;
        return tail;
      }
    }
  }

  /** A line that no parser should read, in parts; undefined when the text goes on after it. */
  #readPlain(rest: string, isComplete: boolean): readonly Block[] | undefined {
    const end = rest.indexOf("\n");
    const line = end < 0 ? rest : rest.slice(0, end + 1);
    const source = toPart(line);
    const isWhole = source.length === line.length;
    const block = { at: this.#frozenTo, source, tokens: [], isClosed: isComplete || !isWhole || end >= 0 };
    this.#isInPlainLine = !isWhole || end < 0;
    if (isWhole && end < 0) {
      return [block];
    }
    this.#freeze([block], this.#frozenTo + source.length);
    return undefined;
  }

  #readPiece(
    text: string,
    { isAll, isComplete, isCut }: { isAll: boolean; isComplete: boolean; isCut: boolean },
  ): readonly Block[] | undefined {
    const isEnd = isAll && isComplete;
    const blocks = this.#toBlocks(isAll && !isComplete ? finishMarks(text) : text);
    const last = blocks.at(-1);
    if (last && !isEnd && this.#openLast(last, text)) {
      this.#freeze(blocks.slice(0, -1), last.at);
      return undefined;
    }
    if (isEnd) {
      return blocks.map((block) => ({ ...block, isClosed: true }));
    }
    if (isCut) {
      this.#freeze(blocks, this.#frozenTo + text.length);
      return undefined;
    }
    const ready = blocks.slice(0, -2);
    const next = blocks[ready.length];
    if (next && ready.length > 0) {
      this.#freeze(ready, next.at);
      this.#nextItem = next.continues ? Number((next.tokens[0] as Tokens.List).start || 1) : undefined;
      return isAll ? blocks.slice(ready.length).filter(isShown) : undefined;
    }
    if (isAll) {
      return blocks.filter(isShown);
    }
    // Nothing in it ends: longer than any block that somebody wrote to be read.
    this.#freeze(
      [{ at: this.#frozenTo, source: text, tokens: [], isClosed: true }],
      this.#frozenTo + text.length,
    );
    return undefined;
  }

  /** Goes over to reading the last block line by line, when it is one that grows so. */
  #openLast({ at, tokens }: Block, text: string): boolean {
    const [token] = tokens;
    const source = text.slice(at - this.#frozenTo);
    if (token?.type === "code" && isFence(source) && !isClosedFence(source)) {
      this.#open = OpenFence.at(at, source);
    } else if (token?.type === "table" && (token as Tokens.Table).rows.length >= longTable) {
      this.#open = new OpenTable(at, source, (part) => this.#lex(part));
    }
    return this.#open !== undefined;
  }

  #toBlocks(text: string): Block[] {
    const start = this.#frozenTo;
    const tokens = this.#lex(text);
    const blocks = groupTokens(tokens, start, (part) => this.#lex(part));
    let next = this.#nextItem;
    return blocks.map((block, index) => {
      const list = block.tokens[0]?.type === "list" ? (block.tokens[0] as Tokens.List) : undefined;
      const continues =
        list !== undefined && (block.continues === true || (index === 0 && next !== undefined));
      const first = continues && next !== undefined ? next : list?.start;
      next = list ? Number(first || 1) + list.items.length : undefined;
      return list
        ? { ...block, continues, tokens: [{ ...list, start: first ?? "" }, ...block.tokens.slice(1)] }
        : block;
    });
  }

  #lex(text: string): Token[] {
    this.lastWork += text.length;
    try {
      const lexer = new Lexer(options);
      lexer.tokens.links = { ...this.#links };
      return lexer.lex(text);
    } catch {
      return [{ type: "paragraph", raw: text, text, tokens: [{ type: "text", raw: text, text }] }];
    }
  }

  #freeze(blocks: readonly Block[], end: number): void {
    for (const block of blocks) {
      this.#frozen.push({ ...block, isClosed: true });
      this.#keepAddresses(block.tokens);
    }
    this.#nextItem = undefined;
    this.#frozenTo = end;
    this.#tailLength = 0;
  }

  /** Addresses that links elsewhere in the text refer to. */
  #keepAddresses(tokens: readonly Token[]): void {
    for (const token of tokens) {
      if (token.type === "def") {
        const { tag, href, title } = token as Tokens.Def;
        this.#links[tag] ??= { href, title: title ?? null };
      }
    }
  }

  /** Reads those frozen blocks again whose links name an address that came after them. */
  #resolveAddresses(): void {
    if (Object.keys(this.#links).length === 0) {
      return;
    }
    this.#frozen = this.#frozen.map((block) => {
      const [first] = block.tokens;
      const names = [...block.source.matchAll(/\[([^\][\n]{1,200})\]/g)].map(([, name = ""]) => toTag(name));
      if (!first || first.type === "code" || !names.some((name) => Object.hasOwn(this.#links, name))) {
        return block;
      }
      const tokens = this.#lex(block.source);
      const start = first.type === "list" ? { start: (first as Tokens.List).start } : {};
      return {
        ...block,
        tokens: tokens.map((token, index) => (index === 0 ? ({ ...token, ...start } as Token) : token)),
      };
    });
  }
}

const toTag = (name: string): string => name.toLowerCase().replaceAll(/\s+/g, " ");

/** A fence shows itself when its first line is complete. */
function isShown({ tokens, source, isClosed }: Block): boolean {
  return isClosed || tokens[0]?.type !== "code" || !isFence(source) || source.includes("\n");
}
