/** Settings of a search while they are chosen; a text that is empty leaves the instance's. */
export interface SettingsDraft {
  method: "both" | "keyword" | "vector" | "usual";
  keywordWeight: string;
  topK: string;
  threshold: string;
}

export const emptySettings = (): SettingsDraft => ({
  method: "usual",
  keywordWeight: "",
  topK: "",
  threshold: "",
});

/** The settings as the server takes them. */
export function toSettings({ method, keywordWeight, topK, threshold }: SettingsDraft) {
  const weight = method === "keyword" ? 1 : toNumber(keywordWeight);
  return {
    ...(method !== "usual" && { hybrid: method !== "vector" }),
    ...(weight !== undefined && method !== "vector" && { keyword_weight: weight }),
    ...withNumber("top_k", toNumber(topK)),
    ...withNumber("threshold", toNumber(threshold)),
  };
}

/** What is wrong with a number, by field. */
export function findProblems({ keywordWeight, topK, threshold }: SettingsDraft) {
  return {
    keywordWeight: isBetween(keywordWeight, 0, 1) ? undefined : ("share" as const),
    topK: isBetween(topK, 1, 100) && !/[.,]/.test(topK) ? undefined : ("count" as const),
    threshold: isBetween(threshold, 0, 1) ? undefined : ("share" as const),
  };
}

function isBetween(text: string, least: number, most: number): boolean {
  const value = toNumber(text);
  return text.trim() === "" || (value !== undefined && value >= least && value <= most);
}

function toNumber(text: string): number | undefined {
  const value = Number(text.trim().replace(",", "."));
  return text.trim() === "" || !Number.isFinite(value) ? undefined : value;
}

const withNumber = <K extends string>(key: K, value: number | undefined) =>
  (value === undefined ? {} : { [key]: value }) as Partial<Record<K, number>>;
