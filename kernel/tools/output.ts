/** A picture or another file that a tool made. */
export interface ToolFile {
  readonly name: string;
  /** MIME type; pictures (`image/…`) are shown to the model as well. */
  readonly contentType: string;
  readonly bytes: Uint8Array;
  /** Told under which id it was stored as a file; not called where nothing is stored, as in temporary chats. */
  onStored?(fileId: string): Promise<void>;
}

/** More than text: what a tool gives to the model and what it shows to people (contract §3.5 and §4.3). */
export interface ToolOutputParts {
  /** What the model reads: text as it is, anything else as JSON. Without it the model is told what was shown. */
  readonly value?: unknown;
  /** Stored as files of the person the tool ran for, and shown with the reply. */
  readonly files?: readonly ToolFile[];
  /** HTML documents or addresses of pages that are shown with the reply, in a frame of their own. */
  readonly embeds?: readonly string[];
  /** What the reply then rests on: `{source, document, metadata}` (contract §3.4). */
  readonly sources?: readonly Readonly<Record<string, unknown>>[];
}

/** A tool's result that carries more than text; made by `toolOutput`. */
export class ToolOutput {
  readonly value: unknown;
  readonly files: readonly ToolFile[];
  readonly embeds: readonly string[];
  readonly sources: readonly Readonly<Record<string, unknown>>[];

  constructor({ value, files = [], embeds = [], sources = [] }: ToolOutputParts) {
    this.value = value;
    this.files = files;
    this.embeds = embeds;
    this.sources = sources;
  }
}

/** A tool's result with files, embeds or sources beside its text. */
export function toolOutput(parts: ToolOutputParts): ToolOutput {
  return new ToolOutput(parts);
}

const picture = /^data:(image\/[a-z0-9.+-]{1,50});base64,([A-Za-z0-9+/]+={0,2})$/;

/** Whatever a tool gave back, in one form. A text that is one picture as a data URI becomes that picture. */
export function toToolOutput(result: unknown): ToolOutput {
  if (result instanceof ToolOutput) {
    return result;
  }
  const [, contentType, data] =
    typeof result === "string" && result.startsWith("data:image/") ? (picture.exec(result) ?? []) : [];
  if (contentType === undefined || data === undefined) {
    return new ToolOutput({ value: result });
  }
  const name = `picture.${contentType.slice("image/".length).split("+")[0]}`;
  return new ToolOutput({ files: [{ name, contentType, bytes: Buffer.from(data, "base64") }] });
}

/** Text beyond this is cut: one result must not fill a model's context and the chat. */
const maxText = 1_000_000;

/** What the model reads of a result. */
export function toResultText({ value, files, embeds }: ToolOutput): string {
  const shown = [...(files.length > 0 ? ["files"] : []), ...(embeds.length > 0 ? ["embeds"] : [])];
  const meant =
    value === undefined && shown.length > 0
      ? { status: "success", message: `The ${shown.join(" and ")} of the result are shown to the user.` }
      : value;
  const text = typeof meant === "string" ? meant : (JSON.stringify(meant) ?? "");
  return text.length > maxText ? `${text.slice(0, maxText)}\n[output truncated]` : text;
}
