/** Reads `name=value` pairs separated by commas, values percent-encoded. Throws URIError for a value that is not. */
export function toPairs(text: string): Record<string, string> {
  return Object.fromEntries(
    splitPairs(text).map((pair) => {
      const at = pair.indexOf("=");
      return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())];
    }),
  );
}

/** The check of variables that hold such pairs. Returns what is wrong, without the values, which may be secret. */
export function checkPairs(text: string): string | undefined {
  if (splitPairs(text).some((pair) => !/^[^=\s][^=]*=/.test(pair))) {
    return "must be name=value pairs separated by commas";
  }
  try {
    toPairs(text);
    return undefined;
  } catch {
    return "has a value that is not percent-encoded";
  }
}

function splitPairs(text: string): string[] {
  return text
    .split(",")
    .map((pair) => pair.trim())
    .filter((pair) => pair !== "");
}
