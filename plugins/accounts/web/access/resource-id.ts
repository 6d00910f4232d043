/** Kinds of things of which one can ask who sees them. */
export type Kind =
  | "model"
  | "chat"
  | "folder"
  | "tool"
  | "knowledge"
  | "prompt"
  | "skill"
  | "calendar"
  | "note";

const places: Readonly<Record<Kind, readonly string[]>> = {
  model: ["models"],
  chat: ["c", "s"],
  folder: ["folders"],
  tool: ["tool"],
  knowledge: ["knowledge"],
  prompt: ["prompt"],
  skill: ["skill"],
  calendar: ["calendars"],
  note: ["notes"],
};

/** The id in what was written: an id as it is, or the last part of an address of this platform. */
export function toResourceId(text: string, kind: Kind): string {
  const written = text.trim();
  const path = URL.canParse(written)
    ? new URL(written).pathname
    : written.startsWith("/")
      ? written
      : undefined;
  const parts = path?.split("/").filter(Boolean) ?? [];
  const at = parts.findLastIndex((part) => places[kind].includes(part));
  return at >= 0 && parts[at + 1] !== undefined ? decodeURIComponent(parts[at + 1] as string) : written;
}
