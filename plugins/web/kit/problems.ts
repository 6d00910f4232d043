/** One entry of the `detail` of a 422. */
interface Problem {
  readonly loc?: readonly (string | number)[];
  readonly msg?: string;
}

/** What is wrong, by the name of the value on the wire. */
export const toProblems = (detail: readonly Problem[]): Readonly<Record<string, string>> =>
  Object.fromEntries(detail.map(({ loc = [], msg = "" }) => [String(loc.at(-1) ?? ""), msg]));

/** The same in words, for what stands at no field. */
export const toWords = (problems: Readonly<Record<string, string>>): string =>
  Object.entries(problems)
    .map(([name, text]) => `${toLabel(name)}: ${text}`)
    .join("; ");

/** `access_grants` → "Access grants". */
function toLabel(name: string): string {
  const words = name.replaceAll(/[._]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
