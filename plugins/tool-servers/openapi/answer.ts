import { AppError } from "#kernel/errors.ts";
import { type ToolOutput, toolOutput, toToolOutput } from "#kernel/tools/output.ts";

/** Bytes of text that are read; the rest is left out and marked. */
const largestText = 2 * 1024 * 1024;
/** Bytes of a page; larger ones are not shown with replies. */
const largestPage = 1024 * 1024;
/** Bytes of a picture or another file. */
const largestFile = 25 * 1024 * 1024;
const longestRefusal = 2000;

/** What the answer of a tool server is to the model and to people (contract §5.1). Throws AppError for a refusal. */
export async function toOutput(response: Response): Promise<ToolOutput> {
  const type = (response.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  if (!response.ok) {
    const { text } = await readText(response, 64 * 1024).catch(() => ({ text: "" }));
    throw new AppError("upstream", toRefusal(response.status, text));
  }
  const disposition = response.headers.get("content-disposition") ?? "";
  if (/^\s*inline\b/i.test(disposition)) {
    const embed = await toEmbed(response, type);
    if (embed !== undefined) {
      return toolOutput({ embeds: [embed] });
    }
  }
  if (isText(type) && !/^\s*attachment\b/i.test(disposition)) {
    return await toTextOutput(response, type);
  }
  const bytes = await readBytes(response, largestFile);
  return bytes.length === 0
    ? toolOutput({ value: `The server answered with status ${response.status} and nothing else.` })
    : toolOutput({
        files: [
          { name: toFileName(disposition, type), contentType: type || "application/octet-stream", bytes },
        ],
      });
}

async function toEmbed(response: Response, type: string): Promise<string | undefined> {
  if (type === "text/html") {
    const { text, isWhole } = await readText(response, largestPage);
    if (!isWhole) {
      throw new AppError(
        "upstream",
        `The page that the server answered with is larger than ${largestPage} bytes.`,
      );
    }
    return text;
  }
  const location = response.headers.get("location");
  if (location === null || !/^https?:$/.test(URL.parse(location)?.protocol ?? "")) {
    return undefined;
  }
  await response.body?.cancel().catch(() => undefined);
  return location;
}

async function toTextOutput(response: Response, type: string): Promise<ToolOutput> {
  const { text, isWhole } = await readText(response, largestText);
  if (!isWhole) {
    return toolOutput({
      value: `${text}\n[output truncated: the answer is larger than ${largestText} bytes]`,
    });
  }
  if (text === "") {
    return toolOutput({ value: `The server answered with status ${response.status} and nothing else.` });
  }
  const value = /\bjson$/.test(type) || type === "" ? toJson(text) : text;
  return toToolOutput(value);
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function isText(type: string): boolean {
  return (
    type === "" ||
    type.startsWith("text/") ||
    /^application\/(.+\+)?(json|xml|yaml|x-yaml|javascript|x-ndjson|problem\+json)$/.test(type)
  );
}

function toRefusal(status: number, text: string): string {
  const said = text.trim().slice(0, longestRefusal);
  return said === ""
    ? `The server refused with status ${status}.`
    : `The server refused with status ${status}: ${said}`;
}

function toFileName(disposition: string, type: string): string {
  const [, encoded] = /filename\*\s*=\s*utf-8''([^;]+)/i.exec(disposition) ?? [];
  const [, plain] = /filename\s*=\s*"?([^";]+)"?/i.exec(disposition) ?? [];
  const given = (encoded === undefined ? plain : decode(encoded)) ?? "";
  const safe = given
    .split(/[/\\]/)
    .at(-1)
    ?.replaceAll(/[^\p{L}\p{N}._ -]/gu, "")
    .trim()
    .slice(0, 120);
  const ending =
    type
      .split("/")[1]
      ?.split("+")[0]
      ?.replaceAll(/[^a-z0-9]/g, "") || "bin";
  return safe || `result.${ending === "octetstream" ? "bin" : ending}`;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

async function readText(response: Response, limit: number): Promise<{ text: string; isWhole: boolean }> {
  const { bytes, isWhole } = await read(response, limit);
  return { text: new TextDecoder().decode(bytes), isWhole };
}

async function readBytes(response: Response, limit: number): Promise<Uint8Array> {
  const { bytes, isWhole } = await read(response, limit);
  if (!isWhole) {
    throw new AppError("upstream", `The file that the server answered with is larger than ${limit} bytes.`);
  }
  return bytes;
}

/** Reads up to `limit` bytes and lets go of the connection. */
async function read(response: Response, limit: number): Promise<{ bytes: Uint8Array; isWhole: boolean }> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  for (let next = await reader?.read(); next?.value !== undefined; next = await reader?.read()) {
    const piece = next.value as Uint8Array;
    pieces.push(piece.subarray(0, limit - size));
    size += piece.length;
    if (size > limit) {
      await reader?.cancel().catch(() => undefined);
      break;
    }
  }
  return { bytes: Buffer.concat(pieces), isWhole: size <= limit };
}
