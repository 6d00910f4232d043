import { type Colourer, type ColouredPiece, makeColourer } from "./highlight.ts";

/** Lines of one element: browsers lay out the last one alone when the text grows, and not all that came before. */
const linesInBlock = 100;
/** Characters that are coloured at once; the page stays responsive between. */
const slice = 6_000;
/** Blocks that begin beyond these characters stay in one colour. */
const mostColoured = 250_000;

interface LineBlock {
  readonly element: HTMLElement;
  /** The end of the block that has no colours yet. */
  readonly plain: Text;
  readonly from: number;
  /** Infinite while lines are added to it. */
  end: number;
}

/** A growing text of code in an element. Each line is laid out and coloured once, so an update costs its new lines. */
export class CodeLines {
  readonly #root: HTMLElement;
  #text = "";
  #isClosed = false;
  #blocks: LineBlock[] = [];
  /** Complete lines of the last block, and the position behind them. */
  #lines = 0;
  #counted = 0;
  #language = "";
  #colourer: Colourer | undefined;
  #coloured = 0;
  /** The block whose lines are coloured next. */
  #next = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  show(text: string, language: string, isClosed: boolean): void {
    if (language !== this.#language || !text.startsWith(this.#text)) {
      this.#begin(language);
    }
    this.#text = text;
    this.#isClosed = isClosed;
    this.#layOut();
    this.#colour();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#colourer = undefined;
    this.#language = "";
  }

  #begin(language: string): void {
    this.stop();
    this.#root.replaceChildren();
    this.#blocks = [];
    this.#lines = this.#counted = this.#coloured = this.#next = 0;
    this.#language = language;
    const first = this.#blocks;
    void makeColourer(language).then((made) => {
      if (this.#blocks === first && this.#language === language) {
        this.#colourer = made;
        this.#colour();
      }
    });
  }

  #layOut(): void {
    let block = this.#blocks.at(-1);
    while (this.#counted < this.#text.length || block?.end === Number.POSITIVE_INFINITY) {
      if (block === undefined || block.end < Number.POSITIVE_INFINITY) {
        block = this.#open(block?.end ?? 0);
      }
      this.#count(block);
      this.#fill(block);
      if (block.end === Number.POSITIVE_INFINITY) {
        return;
      }
    }
  }

  #open(from: number): LineBlock {
    const element = document.createElement("span");
    element.className = "block";
    const plain = document.createTextNode("");
    element.append(plain);
    this.#root.append(element);
    const block = { element, plain, from, end: Number.POSITIVE_INFINITY };
    this.#blocks.push(block);
    return block;
  }

  #count(block: LineBlock): void {
    for (let at = this.#text.indexOf("\n", this.#counted); at >= 0; at = this.#text.indexOf("\n", at + 1)) {
      this.#lines += 1;
      this.#counted = at + 1;
      if (this.#lines === linesInBlock) {
        block.end = this.#counted;
        this.#lines = 0;
        return;
      }
    }
  }

  #fill({ plain, from, end }: LineBlock): void {
    plain.data = this.#text.slice(Math.max(from, this.#coloured), Math.min(end, this.#text.length));
  }

  #colour(): void {
    clearTimeout(this.#timer);
    for (let room = slice; room > 0 && this.#colourer;) {
      const block = this.#blocks[this.#next];
      if (block === undefined || block.from >= mostColoured) {
        return;
      }
      const end = this.#cut(block, room);
      room -= end - this.#coloured;
      if (end > this.#coloured) {
        this.#colourLines(block, this.#text.slice(this.#coloured, end));
        this.#coloured = end;
        this.#fill(block);
      } else if (end < block.end) {
        return;
      }
      this.#next += end === block.end ? 1 : 0;
    }
    if (this.#colourer) {
      this.#timer = setTimeout(() => this.#colour());
    }
  }

  /** The end of the complete lines that are coloured at once. */
  #cut({ end }: LineBlock, room: number): number {
    const text = this.#text;
    const ready = end <= text.length ? end : this.#isClosed ? text.length : this.#counted;
    const most = this.#coloured + room;
    if (most >= ready) {
      return ready;
    }
    const before = text.lastIndexOf("\n", most - 1) + 1;
    return before > this.#coloured ? before : Math.min(ready, text.indexOf("\n", most) + 1 || ready);
  }

  #colourLines({ plain }: LineBlock, lines: string): void {
    const isWhole = lines.endsWith("\n");
    const coloured = this.#colourer?.(isWhole ? lines.slice(0, -1) : lines) ?? [];
    plain.before(
      ...coloured.flatMap((line, index) => [
        ...line.map(toNode),
        isWhole || index < coloured.length - 1 ? "\n" : "",
      ]),
    );
  }
}

function toNode({ text, look }: ColouredPiece): Node | string {
  if (look === "") {
    return text;
  }
  const span = document.createElement("span");
  span.className = look;
  span.textContent = text;
  return span;
}
