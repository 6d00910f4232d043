import type { Token, Tokens } from "marked";
import type { Block } from "./block.ts";
import { isClosedFence, isFence, OpenFence } from "./open-fence.ts";

/** Items of one piece of a long list. */
const pieceOfList = 10;
const containers = /<(\/?)(?:details|div|blockquote|table|ul|ol|dl)\b[^<>]*>/gi;

/** Blocks of one text: long lists in pieces, and what stands between the tags of an element as one block. */
export function groupTokens(tokens: readonly Token[], at: number, lex: (text: string) => Token[]): Block[] {
  const blocks: Block[] = [];
  let begin = at;
  let depth = 0;
  for (const token of tokens) {
    const last = blocks.at(-1);
    if (last && (depth > 0 || token.type === "space")) {
      blocks[blocks.length - 1] = {
        ...last,
        source: last.source + token.raw,
        tokens: token.type === "space" && depth <= 0 ? last.tokens : [...last.tokens, token],
      };
    } else {
      const pieces =
        token.type === "list" ? cutList(token as Tokens.List, lex) : [[token.raw, [toCode(token)]] as const];
      let from = begin;
      pieces.forEach(([source, inside], index) => {
        blocks.push({ at: from, source, tokens: inside, isClosed: false, continues: index > 0 });
        from += source.length;
      });
    }
    begin += token.raw.length;
    depth = token.type === "html" ? Math.max(0, depth + depthOf(token.raw)) : depth;
  }
  return blocks.map((block) =>
    block.tokens[0]?.type === "code" ? { ...block, isClosed: isClosedFence(block.source) } : block,
  );
}

/** Each piece is read by itself, so that it is the same whether the rest of the list is there or not. */
function cutList(list: Tokens.List, lex: (text: string) => Token[]): [string, readonly Token[]][] {
  const { items, raw } = list;
  const count = raw.startsWith(items.map((item) => item.raw).join("")) ? items.length : 0;
  const pieces: [string, readonly Token[]][] = [];
  let first = 0;
  let from = 0;
  for (; count - first >= pieceOfList + 2; first += pieceOfList) {
    const part = items.slice(first, first + pieceOfList);
    const end = from + part.reduce((sum, item) => sum + item.raw.length, 0);
    pieces.push([raw.slice(from, end), lex(raw.slice(from, end))]);
    from = end;
  }
  pieces.push([raw.slice(from), from === 0 ? [list] : lex(raw.slice(from))]);
  return pieces;
}

/** Code is read the same way whether it was there at once or came line by line. */
function toCode(token: Token): Token {
  const fence = token.type === "code" && isFence(token.raw) ? OpenFence.at(0, token.raw) : undefined;
  return fence?.read(token.raw, true).block.tokens[0] ?? token;
}

/** How many elements a piece of markup leaves open. */
function depthOf(html: string): number {
  return [...html.matchAll(containers)].reduce((sum, [, slash]) => sum + (slash ? -1 : 1), 0);
}
