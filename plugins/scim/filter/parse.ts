import { type Filter, parse } from "scim2-parse-filter";
import { refusal, type ScimReason } from "../errors.ts";

const longest = 8000;
/** Deeper nesting than any client writes; the parser and the translation walk it recursively. */
const deepest = 50;

/**
 * Parses a filter (RFC 7644, 3.4.2.2). Texts are taken out before and put back afterwards, because the library decodes
 * `\"` alone. A part behind brackets (`emails[type eq "work"].value eq "x"`) belongs to the element that they choose: the
 * library makes two separate conditions of it, so that it is marked before and moved into the brackets afterwards. Throws
 * `invalid` with `reason`.
 */
export function parseFilter(text: string, reason: ScimReason = "invalidFilter"): Filter {
  if (text.length > longest) {
    throw refusal(reason, `The filter is longer than ${longest} characters.`);
  }
  const { skeleton, texts } = takeTextsOut(text, reason);
  if (countNesting(skeleton) > deepest) {
    throw refusal(reason, `The filter is nested deeper than ${deepest} levels.`);
  }
  let filter: Filter;
  try {
    filter = parse(skeleton.replaceAll(/\]\.(?=[A-Za-z$])/g, `].${partMark}`));
  } catch {
    throw refusal(reason, `The filter cannot be read: ${text.slice(0, 200)}`);
  }
  return putTextsBack(filter, texts);
}

function takeTextsOut(text: string, reason: ScimReason): { skeleton: string; texts: string[] } {
  const texts: string[] = [];
  let skeleton = "";
  let at = 0;
  for (let start = text.indexOf('"'); start !== -1; start = text.indexOf('"', at)) {
    const end = endOfText(text, start);
    try {
      texts.push(JSON.parse(text.slice(start, end + 1)) as string);
    } catch {
      throw refusal(reason, "The filter holds a text that is not written as in JSON.");
    }
    skeleton += `${text.slice(at, start)}"${texts.length - 1}"`;
    at = end + 1;
  }
  return { skeleton: skeleton + text.slice(at), texts };
}

/** The closing quote, or the end where there is none. */
function endOfText(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") {
      at += 1;
    } else if (text[at] === '"') {
      return at;
    }
  }
  return text.length;
}

function countNesting(skeleton: string): number {
  let depth = 0;
  let most = 0;
  for (const letter of skeleton) {
    depth += letter === "(" || letter === "[" ? 1 : letter === ")" || letter === "]" ? -1 : 0;
    most = Math.max(most, depth);
  }
  // `not` nests without brackets.
  return most + (/(?:\bnot\s+){3}/i.test(skeleton) ? deepest + 1 : 0);
}

/** No name of an attribute holds a percent sign. */
const partMark = "part%";

/** The filter on one element that the library took apart; undefined for any other pair of conditions. */
function joinPart([brackets, leaf]: readonly Filter[]): Extract<Filter, { op: "[]" }> | undefined {
  if (brackets?.op !== "[]" || leaf === undefined || !("attrPath" in leaf)) {
    return undefined;
  }
  const start = `${brackets.attrPath}.${partMark}`;
  if (!leaf.attrPath.startsWith(start)) {
    return undefined;
  }
  const part = { ...leaf, attrPath: leaf.attrPath.slice(start.length) };
  return { ...brackets, valFilter: { op: "and", filters: [brackets.valFilter, part] } };
}

function putTextsBack(filter: Filter, texts: readonly string[]): Filter {
  const joined = filter.op === "and" ? joinPart(filter.filters) : undefined;
  if (joined !== undefined) {
    return putTextsBack(joined, texts);
  }
  switch (filter.op) {
    case "and":
    case "or":
      return { op: filter.op, filters: filter.filters.map((each) => putTextsBack(each, texts)) };
    case "not":
      return { op: "not", filter: putTextsBack(filter.filter, texts) };
    case "[]":
      return { ...filter, valFilter: putTextsBack(filter.valFilter, texts) };
    case "pr":
      return filter;
    default: {
      const { compValue } = filter;
      return typeof compValue === "string"
        ? { ...filter, compValue: texts[Number(compValue)] as string }
        : filter;
    }
  }
}
