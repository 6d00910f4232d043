/** Claims of a person: of the ID token and of the user information. */
export type Claims = Readonly<Record<string, unknown>>;

/** The value that dots lead to; a claim whose own name has dots wins. */
export function readClaim(claims: Claims, path: string): unknown {
  if (path === "" || Object.hasOwn(claims, path)) {
    return claims[path];
  }
  return path.split(".").reduce<unknown>((at, part) => {
    const isObject = typeof at === "object" && at !== null && Object.hasOwn(at, part);
    return isObject ? (at as Record<string, unknown>)[part] : undefined;
  }, claims);
}

/** A claim as a text; numbers are texts, too, as some providers number people. */
export function readText(claims: Claims, path: string): string | undefined {
  const value = readClaim(claims, path);
  const first = Array.isArray(value) ? value[0] : value;
  const text = typeof first === "number" ? String(first) : first;
  return typeof text === "string" && text.trim() !== "" ? text.trim() : undefined;
}

/** A claim as a list of texts, split where it is one text; undefined when there is no such claim. */
export function readList(claims: Claims, path: string, separator: string): string[] | undefined {
  const value = readClaim(claims, path);
  if (value === undefined || value === null) {
    return undefined;
  }
  const values = Array.isArray(value)
    ? value
    : typeof value === "string" && separator !== ""
      ? value.split(separator)
      : [value];
  const texts = values.flatMap((each) =>
    ["string", "number"].includes(typeof each) ? [String(each).trim()] : [],
  );
  return [...new Set(texts.filter((text) => text !== ""))];
}

/** True when a name fits one of the patterns, in which `*` stands for any characters and `?` for one. */
export function fitsPattern(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => fits([...name.toLowerCase()], [...pattern.toLowerCase()]));
}

/** Linear in both lengths for each star, unlike an expression made of the pattern. */
function fits(text: readonly string[], pattern: readonly string[]): boolean {
  let [at, next, star, mark] = [0, 0, -1, 0];
  while (at < text.length) {
    if (pattern[next] === "*") {
      star = next;
      next += 1;
      mark = at;
    } else if (pattern[next] === "?" || pattern[next] === text[at]) {
      next += 1;
      at += 1;
    } else if (star >= 0) {
      next = star + 1;
      mark += 1;
      at = mark;
    } else {
      return false;
    }
  }
  return pattern.slice(next).every((each) => each === "*");
}
