import type { CodeProblem } from "#plugins/web/kit/code/problems.ts";

/** What the page asks the worker that knows types. */
export type Question = { readonly id: number; readonly text: string } & (
  | { readonly kind: "check" }
  | { readonly kind: "complete"; readonly offset: number }
);

/** One name that fits at a place. */
export interface Suggestion {
  readonly label: string;
  readonly kind: string;
}

export interface Answer {
  readonly id: number;
  readonly problems?: readonly CodeProblem[];
  readonly suggestions?: readonly Suggestion[];
}
