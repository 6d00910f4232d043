import type { Incoming } from "./read-import.ts";

/** An entry of a list of code, as pages show it. */
export interface ListedCode {
  readonly id: string;
  readonly name: string;
  readonly meta: Readonly<Record<string, unknown>>;
  /** Why it cannot run. */
  readonly error?: string | null | undefined;
}

/** Code to begin with, in the language of now. */
export interface CodeTemplate {
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly badge?: string;
}

/** Takes in code from a file. */
export interface CodeImport {
  readonly title: string;
  /** Said when all is written. */
  readonly done: string;
  check(content: string): Promise<{
    readonly error: {
      readonly message: string;
      readonly line: number | null;
      readonly column: number | null;
    } | null;
  }>;
  write(code: Incoming & { readonly isKnown: boolean }): Promise<unknown>;
}
