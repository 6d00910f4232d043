import type { ToolFile } from "#kernel/tools/output.ts";

/** Names of the outcomes of `execute_code` (contract A7). */
export type RunStatus = "success" | "error" | "timeout";

/** What a run of code gave. */
export interface RunResult {
  readonly status: RunStatus;
  readonly stdout: string;
  readonly stderr: string;
  /** The value of the last expression as text. */
  readonly result: string;
  /** Pictures that were shown and files that were written. */
  readonly files: readonly ToolFile[];
  /** HTML that was shown, such as tables. */
  readonly html: readonly string[];
}

/** A file that code may read. */
export interface GivenFile {
  readonly id: string;
  readonly name: string;
}

/** Characters of one text; more would fill the model's context. */
export const maxText = 100_000;

/** The beginning of a text, marked where it was cut. */
export function cut(text: string, most = maxText): string {
  return text.length > most ? `${text.slice(0, most)}\n[output truncated]` : text;
}

/** A name that is one part of a path, and says what it was. */
export function toFileName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? "";
  // oxlint-disable-next-line no-control-regex -- no file has them in its name
  const clean = last.replaceAll(/[\u0000-\u001F\u007F<>:"|?*]/g, "_").replace(/^\.+/, "");
  return clean.slice(-150) || "file";
}
