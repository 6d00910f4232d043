import type { Json } from "#kernel/sandbox.ts";
import { type ToolFile, type ToolOutput, toolOutput, toToolOutput } from "#kernel/tools/output.ts";

type Bag = Readonly<Record<string, Json>>;

/** Keys of an answer that carries more than data. An object with any other key is data. */
const carrying = new Set(["value", "context", "html", "embeds", "files", "sources"]);
const mostFiles = 20;

/**
 * What a function of a tool gave back (contract 4.3): text or data for the model, a `data:image/…` text as a picture,
 * `{html, context}` as a document that is shown, an inline HTML response likewise, and `{value, files, embeds, sources}`.
 */
export function toOutput(answer: Json | undefined): ToolOutput {
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) {
    return toToolOutput(answer ?? null);
  }
  const given = answer as Bag;
  const inline = toInlineHtml(given);
  if (inline !== undefined) {
    return toolOutput({ embeds: [inline] });
  }
  const keys = Object.keys(given);
  const isCarrying =
    keys.length > 0 &&
    keys.every((key) => carrying.has(key)) &&
    ["html", "embeds", "files", "sources"].some((key) => Object.hasOwn(given, key));
  return isCarrying ? fromParts(given) : toToolOutput(answer);
}

function fromParts({ value, context, html, embeds, files, sources }: Bag): ToolOutput {
  const shown = [html, ...(Array.isArray(embeds) ? (embeds as readonly Json[]) : [])];
  const read = value ?? context;
  return toolOutput({
    ...(read !== undefined && { value: read }),
    embeds: shown.filter((each) => typeof each === "string" && each !== "") as string[],
    files: (Array.isArray(files) ? (files as readonly Json[]) : []).slice(0, mostFiles).flatMap(toFile),
    sources: (Array.isArray(sources) ? (sources as readonly Json[]) : []).filter(isBag),
  });
}

/** `{headers: {"Content-Disposition": "inline", "Content-Type": "text/html"}, body}`, as web code writes it. */
function toInlineHtml({ headers, body }: Bag): string | undefined {
  if (typeof body !== "string" || !isBag(headers)) {
    return undefined;
  }
  const lower = Object.entries(headers).map(([name, text]) => [
    name.toLowerCase(),
    String(text).toLowerCase(),
  ]);
  const { "content-disposition": place = "", "content-type": type = "text/html" } = Object.fromEntries(
    lower,
  ) as Record<string, string>;
  return place.startsWith("inline") && type.startsWith("text/html") ? body : undefined;
}

/** `{name, type, data}` with base64 or a data URI, or `{name, type, text}`. What is neither is left out. */
function toFile(given: Json): ToolFile[] {
  if (!isBag(given)) {
    return [];
  }
  const { name, type, data, text } = given as Bag;
  const found = typeof data === "string" ? /^(?:data:([^;,]*)[^,]*,)?([\w+/=\s-]*)$/.exec(data) : undefined;
  const bytes =
    typeof text === "string" ? Buffer.from(text) : found ? Buffer.from(found[2] ?? "", "base64") : undefined;
  if (bytes === undefined) {
    return [];
  }
  const contentType = [type, found?.[1]].find((each) => typeof each === "string" && each !== "");
  return [
    {
      name: typeof name === "string" && name !== "" ? name.slice(0, 200) : "file",
      contentType: String(
        contentType ?? (typeof text === "string" ? "text/plain" : "application/octet-stream"),
      ),
      bytes,
    },
  ];
}

function isBag(value: Json | undefined): value is Bag {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
