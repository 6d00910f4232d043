import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/sdk/types.js";
import { AppError } from "#kernel/errors.ts";
import { type ToolFile, type ToolOutput, toolOutput } from "#kernel/tools/output.ts";

/** Characters of one result that a model reads: more would fill its context. */
export const mostText = 100_000;
const mostFiles = 20;
const mostFileBytes = 20 * 1024 * 1024;

/**
 * The result of a call as models and people get it: texts joined, pictures, sounds and other bytes as files, structured
 * values where there is no text (contract §5.1). Throws what the tool says when it failed.
 */
export function toOutput(result: CallToolResult): ToolOutput {
  const parts = new ResultParts();
  result.content.forEach((block) => parts.add(block));
  if (result.structuredContent !== undefined && parts.texts.length === 0) {
    parts.texts.push(JSON.stringify(result.structuredContent));
  }
  const text = [truncate(parts.texts.join("\n")), ...parts.notes].join("\n").trim();
  if (result.isError === true) {
    throw new AppError("upstream", text || "The tool failed and did not say why.");
  }
  return toolOutput({ ...(text !== "" && { value: text }), files: parts.files });
}

/** Cuts a text that is too long, and says so: a model must not take the part for the whole. */
export function truncate(text: string): string {
  if (text.length <= mostText) {
    return text;
  }
  const count = (value: number) => value.toLocaleString("en");
  return `${text.slice(0, mostText)}\n[truncated: the first ${count(mostText)} of ${count(text.length)} characters]`;
}

class ResultParts {
  readonly texts: string[] = [];
  readonly notes: string[] = [];
  readonly files: ToolFile[] = [];
  #bytes = 0;

  add(block: ContentBlock): void {
    switch (block.type) {
      case "text":
        this.texts.push(block.text);
        return;
      case "image":
        this.#addFile("picture", block.mimeType, block.data);
        return;
      case "audio":
        this.#addFile("sound", block.mimeType, block.data);
        return;
      case "resource_link":
        this.texts.push(toLinkText(block));
        return;
      default:
        this.#addResource(block.resource);
    }
  }

  #addResource(resource: Extract<ContentBlock, { type: "resource" }>["resource"]): void {
    if ("text" in resource) {
      this.texts.push(`Resource ${resource.uri}:\n${resource.text}`);
    } else {
      const name = resource.uri.split(/[/\\]/).at(-1) || "resource";
      this.#addFile(name, resource.mimeType ?? "application/octet-stream", resource.blob);
    }
  }

  #addFile(title: string, contentType: string, data: string): void {
    const bytes = Buffer.from(data, "base64");
    this.#bytes += bytes.byteLength;
    if (this.files.length >= mostFiles || this.#bytes > mostFileBytes) {
      this.notes.push(`[left out: ${title} (${contentType}), the result has too many bytes]`);
      return;
    }
    const ending = /^[a-z]+\/([a-z0-9]+)/.exec(contentType)?.[1] ?? "bin";
    const name = title.includes(".") ? title : `${title}-${this.files.length + 1}.${ending}`;
    this.files.push({ name, contentType, bytes });
  }
}

function toLinkText(link: Extract<ContentBlock, { type: "resource_link" }>): string {
  const about = link.description ? `: ${link.description}` : "";
  return `[${link.title ?? link.name}](${link.uri})${about}`;
}
