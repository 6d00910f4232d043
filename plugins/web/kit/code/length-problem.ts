import { tooLong } from "../length-limit.ts";
import type { CodeProblem } from "./problems.ts";

/** Characters of the code of a function or a tool that the server takes. */
const longest = 512 * 1024;

/** Says at its first line that code is longer than the server takes; undefined while it fits. */
export function lengthProblem(code: string): CodeProblem | undefined {
  const message = tooLong(code, longest);
  return message === undefined ? undefined : { line: 1, column: 1, severity: "error", message };
}
