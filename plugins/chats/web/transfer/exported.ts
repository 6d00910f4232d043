/** A message as exports hold it; what is not read here is left as it is. */
export interface ExportedMessage {
  readonly id?: string;
  readonly parentId?: string | null;
  readonly childrenIds?: readonly string[];
  readonly role?: string;
  readonly content?: unknown;
  readonly output?: unknown;
  readonly model?: string;
  readonly modelName?: string;
  readonly timestamp?: number;
  readonly [key: string]: unknown;
}

/** The part of a chat that says what was said. */
export interface ExportedTree {
  readonly title?: string;
  readonly history?: {
    readonly currentId?: string | null;
    readonly messages?: Readonly<Record<string, ExportedMessage>>;
  };
  readonly messages?: readonly ExportedMessage[] | null;
  readonly [key: string]: unknown;
}

/** A chat with everything, as the server answers it and as files of exports hold it. */
export interface ExportedChat {
  readonly id?: string;
  readonly title?: string;
  readonly chat: ExportedTree;
  readonly created_at?: number;
  readonly updated_at?: number;
  readonly [key: string]: unknown;
}

/** The branch that a chat shows, oldest first. */
export function shownBranch({ history, messages }: ExportedTree): readonly ExportedMessage[] {
  const known = history?.messages ?? {};
  const branch: ExportedMessage[] = [];
  const seen = new Set<string>();
  // A broken file may lead in a circle.
  for (let id = history?.currentId; id && known[id] && !seen.has(id); id = known[id]?.parentId) {
    seen.add(id);
    branch.push(known[id] as ExportedMessage);
  }
  return branch.length > 0 ? branch.toReversed() : (messages ?? []);
}

/** What a message says, as plain text: its content, else the texts among its output. */
export function messageText({ content, output }: ExportedMessage): string {
  const said = blocksText(content);
  if (said !== "" || !Array.isArray(output)) {
    return said;
  }
  return (output as { type?: unknown; content?: unknown }[])
    .filter((item) => item?.type === "message")
    .map((item) => blocksText(item.content))
    .join("\n\n");
}

function blocksText(content: unknown): string {
  if (typeof content === "string") {
    return content;
  }
  const blocks = Array.isArray(content) ? (content as { text?: unknown }[]) : [];
  return blocks.flatMap((block) => (typeof block?.text === "string" ? [block.text] : [])).join("\n");
}
