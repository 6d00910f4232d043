/** A message item of a reply, as far as its words go (contract §3.5). */
interface Said {
  readonly content: readonly (
    | { readonly type: "output_text"; readonly text: string }
    | { readonly refusal: string }
  )[];
}

/** The text of a reply: its message items, joined by newlines. */
export function toContent(items: readonly { readonly type: string }[]): string {
  return items
    .filter((item): item is { type: "message" } & Said => item.type === "message")
    .map(textOf)
    .filter((text) => text !== "")
    .join("\n");
}

/** The visible words of one message item. */
export function textOf({ content }: Said): string {
  return content.map((part) => ("text" in part ? part.text : part.refusal)).join("");
}
