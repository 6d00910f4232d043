import { Schema, type DOMOutputSpec, type MarkSpec, type Node, type NodeSpec } from "prosemirror-model";
import { schema as basic } from "prosemirror-markdown";

/** The name of the fragment that holds a note's text inside its Yjs document; that of the ecosystem's clients. */
export const fragmentName = "prosemirror";

/** Addresses that a link or a picture may have: a note of somebody else must not run anything (promise S83). */
export function toSafeUrl(url: unknown): string | undefined {
  const text = typeof url === "string" ? url.trim() : "";
  const isSafe = /^(https?:|mailto:|tel:)/i.test(text) || !/^[^/?#]*:/.test(text);
  // oxlint-disable-next-line no-control-regex -- browsers drop these signs before they read the scheme
  return text !== "" && isSafe && !/[\u0000-\u001f]/.test(text) ? text : undefined;
}

/** An item of a list; `checked` is null where it is no task. */
const listItem: NodeSpec = {
  attrs: { checked: { default: null } },
  content: "block+",
  defining: true,
  parseDOM: [
    {
      tag: "li",
      getAttrs: (element) => {
        const checked = element.getAttribute("data-checked");
        return { checked: checked === null ? null : checked === "true" };
      },
    },
  ],
  toDOM: ({ attrs }): DOMOutputSpec =>
    typeof attrs["checked"] === "boolean"
      ? ["li", { "data-checked": String(attrs["checked"]) }, 0]
      : ["li", 0],
};

const link: MarkSpec = {
  ...(basic.spec.marks.get("link") as MarkSpec),
  toDOM: ({ attrs }): DOMOutputSpec => [
    "a",
    {
      href: toSafeUrl(attrs["href"]) ?? "",
      title: typeof attrs["title"] === "string" ? attrs["title"] : null,
      rel: "noopener noreferrer nofollow",
      target: "_blank",
    },
    0,
  ],
};

const image: NodeSpec = {
  ...(basic.spec.nodes.get("image") as NodeSpec),
  toDOM: ({ attrs }: Node): DOMOutputSpec => [
    "img",
    { src: toSafeUrl(attrs["src"]) ?? "", alt: attrs["alt"], title: attrs["title"] },
  ],
};

const strike: MarkSpec = {
  parseDOM: [{ tag: "s" }, { tag: "del" }, { tag: "strike" }],
  toDOM: (): DOMOutputSpec => ["s", 0],
};

type Nodes =
  | "doc"
  | "paragraph"
  | "blockquote"
  | "horizontal_rule"
  | "heading"
  | "code_block"
  | "ordered_list"
  | "bullet_list"
  | "list_item"
  | "text"
  | "image"
  | "hard_break";
type Marks = "em" | "strong" | "link" | "code" | "strike";

/** The schema of a note: CommonMark, tasks, and words that are struck through. */
export const noteSchema = new Schema<Nodes, Marks>({
  nodes: basic.spec.nodes.update("list_item", listItem).update("image", image),
  marks: basic.spec.marks.update("link", link).addToEnd("strike", strike),
});
