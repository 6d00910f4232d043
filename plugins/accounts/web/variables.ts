/** A row of the form; `key` keeps rows apart whose names are alike or empty. */
export interface VariableRow {
  readonly key: number;
  name: string;
  value: string;
}

const namePattern = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/** What is wrong with the names, by the keys of their rows. */
export function findNameProblems(
  rows: readonly VariableRow[],
  words: { readonly form: string; readonly twice: string },
): Readonly<Record<number, string>> {
  const problems: Record<number, string> = {};
  const seen = new Set<string>();
  for (const { key, name } of rows) {
    if (!namePattern.test(name)) {
      problems[key] = words.form;
    } else if (seen.has(name)) {
      problems[key] = words.twice;
    }
    seen.add(name);
  }
  return problems;
}
