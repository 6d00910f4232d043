import { type Schema, toSchema } from "./type-schema.ts";

/** One `@param` of a doc comment. */
interface Param {
  readonly name: string;
  readonly schema: Schema;
  readonly isOptional: boolean;
}

/** What the doc comment of a function says about it. */
export interface DocComment {
  /** The text before the first tag. */
  readonly description: string;
  readonly parameters: Schema;
  /** Names of the first level, in order. */
  readonly names: readonly string[];
  /** The argument that the parameters are members of: `@param {string} params.city`. */
  readonly root: string | undefined;
  readonly isParallel: boolean;
  readonly title: string | undefined;
}

/**
 * Reads JSDoc: `@param {type} name - text`, `[name]` and `[name=default]` for what may be left out, `a.b` for members,
 * `@title` and `@parallel`. Other tags are for people.
 */
export function readDocComment(comment: string): DocComment {
  const [text = "", ...tags] = toLines(comment).split(/^(?=@\w)/m);
  const params = tags.flatMap((tag) => (/^@(?:param|arg|argument)\b/.test(tag) ? [readParam(tag)] : []));
  const found = params.filter((param) => param !== undefined);
  const root = findRoot(found);
  const members = found.flatMap(({ name, ...rest }) =>
    root === undefined
      ? [{ name, ...rest }]
      : name === root
        ? []
        : [{ name: name.slice(root.length + 1), ...rest }],
  );
  const tag = (name: string) =>
    tags
      .find((each) => each.startsWith(`@${name}`))
      ?.slice(name.length + 1)
      .trim();
  return {
    description: text
      .trim()
      .replaceAll(/(?<![^\S\n])[^\S\n]+\n/g, "\n")
      .replaceAll(/\n[^\S\n]+/g, "\n"),
    parameters: toObjectSchema(members),
    names: members.filter(({ name }) => !name.includes(".")).map(({ name }) => name),
    root,
    isParallel: tags.some((each) => /^@(?:parallel|readonly)\b/.test(each)),
    title: tag("title") || undefined,
  };
}

/** A comment of one line has its tags in the middle of it. */
const knownTag = /(?<![^\S\n])[^\S\n]+@(?=(?:param|arg|argument|returns?|title|parallel|readonly)\b)/g;

function toLines(comment: string): string {
  return comment
    .replace(/^\/\*\*+/, "")
    .replace(/(?<!\*)\*+\/$/, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, "").trim())
    .join("\n")
    .replaceAll(knownTag, "\n@")
    .trim();
}

/** `@param {type} name - text`, where the type may hold braces itself. */
function readParam(tag: string): Param | undefined {
  const rest = tag.replace(/^@\w+\s*/, "");
  const [type, after] = rest.startsWith("{") ? splitBraces(rest) : ["", rest];
  const found =
    /^(?:\[\s*([\w$.]+)\s*(?:=\s*([^\]]*(?:\[[^\]]*\])?[^\]]*))?\]|([\w$.]+))\s*(?:[-–:]\s*)?([^]*)$/.exec(
      after.trim(),
    );
  const name = found?.[1] ?? found?.[3];
  if (found === null || name === undefined) {
    return undefined;
  }
  const isOptional = found[1] !== undefined || type.trim().endsWith("=");
  const schema = toSchema(type.trim().replace(/=$/, ""));
  const text = (found[4] ?? "").trim().replaceAll(/(?<!\s)\s*\n\s*/g, " ");
  const fallback = found[2] === undefined ? undefined : toDefault(found[2].trim());
  return {
    name,
    isOptional,
    schema: {
      ...schema,
      ...(text !== "" && { description: text }),
      ...(fallback !== undefined && { default: fallback }),
    },
  };
}

function splitBraces(text: string): [type: string, rest: string] {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    depth += text[at] === "{" ? 1 : text[at] === "}" ? -1 : 0;
    if (depth === 0) {
      return [text.slice(1, at), text.slice(at + 1)];
    }
  }
  return ["", ""];
}

/** A literal, else the text as it stands. */
function toDefault(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^'(.*)'$/s, (_whole, inner: string) => JSON.stringify(inner)));
  } catch {
    return text;
  }
}

/** The name whose members all others are. */
function findRoot(params: readonly Param[]): string | undefined {
  const [first] = params;
  const root = first?.name.split(".")[0] ?? "";
  const others = params.filter(({ name }) => name !== root);
  return others.length > 0 && others.every(({ name }) => name.startsWith(`${root}.`)) ? root : undefined;
}

/** Members of members (`place.city`) become objects in objects. */
function toObjectSchema(params: readonly Param[]): Schema {
  const own = params.filter(({ name }) => !name.includes("."));
  const properties = own.map(({ name, schema }) => {
    const inner = params.flatMap((param) =>
      param.name.startsWith(`${name}.`) ? [{ ...param, name: param.name.slice(name.length + 1) }] : [],
    );
    return [name, inner.length > 0 ? { ...schema, ...toObjectSchema(inner) } : schema] as const;
  });
  const required = own.filter(({ isOptional }) => !isOptional).map(({ name }) => name);
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
  };
}
