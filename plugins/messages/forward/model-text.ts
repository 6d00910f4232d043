import { AppError } from "#kernel/errors.ts";

/**
 * A JSON text with another model in it and every other byte as it was: what is signed or cached upstream must not
 * change. Of a key that is written several times, in whatever spelling, all get the model: this server reads one of
 * them, an upstream perhaps another.
 */
export function withModel(text: string, model: string): string {
  const value = JSON.stringify(model);
  let result = "";
  let from = 0;
  for (const [start, end] of findModels(text)) {
    result += text.slice(from, start) + value;
    from = end;
  }
  return result + text.slice(from);
}

/** Where the values of the outermost object's `model` stand. The text is known to be valid JSON. */
function* findModels(text: string): Generator<[start: number, end: number]> {
  let depth = 0;
  let isKey = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === "{" || char === "[") {
      depth += 1;
      isKey = depth === 1;
    } else if (char === "}" || char === "]") {
      depth -= 1;
    } else if (char === ",") {
      isKey = depth === 1;
    } else if (char === '"') {
      const end = findEnd(text, at);
      if (isKey && (JSON.parse(text.slice(at, end)) as string).toLowerCase() === "model") {
        const start = findValue(text, end);
        at = findEnd(text, start) - 1;
        yield [start, at + 1];
      } else {
        at = end - 1;
      }
      isKey = false;
    }
  }
}

/** The position behind the string that begins at `start`. */
function findEnd(text: string, start: number): number {
  let end = start;
  let escapes = 0;
  do {
    end = text.indexOf('"', end + 1);
    escapes = 0;
    while (text[end - 1 - escapes] === "\\") {
      escapes += 1;
    }
  } while (escapes % 2 === 1);
  return end + 1;
}

function findValue(text: string, from: number): number {
  // In valid JSON nothing but a colon and white space stands before the value.
  let at = from;
  while (" \t\r\n:".includes(text[at] ?? "-")) {
    at += 1;
  }
  if (text[at] !== '"') {
    throw new AppError("unprocessable", [
      { type: "invalid_type", loc: ["body", "model"], msg: "must be written once, as a text" },
    ]);
  }
  return at;
}
