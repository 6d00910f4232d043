/** What is wrong with code, and where; 1-based. */
export interface CodeProblem {
  readonly line: number;
  readonly column: number;
  /** In characters. */
  readonly length?: number;
  readonly severity: "error" | "warning" | "info";
  readonly message: string;
}
