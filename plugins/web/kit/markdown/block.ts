import type { Token } from "marked";

/** One block of a text: its source decides what it shows, so an unchanged source is an unchanged block. */
export interface Block {
  /** Where it begins; stays the same while the text grows. */
  readonly at: number;
  readonly source: string;
  /** Empty for text that is shown as it is. */
  readonly tokens: readonly Token[];
  /** False while more of it may come. */
  readonly isClosed: boolean;
  /** It is a further piece of the list before it. */
  readonly continues?: boolean;
}

/** What a block that is still being written shows, and where the text goes on after it. */
export interface OpenRead {
  readonly block: Block;
  /** Where the next block begins; undefined while this one may grow. */
  readonly end: number | undefined;
  /** Characters that were looked at. */
  readonly work: number;
}
