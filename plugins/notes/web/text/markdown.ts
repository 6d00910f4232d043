import MarkdownIt from "markdown-it";
import {
  defaultMarkdownParser,
  defaultMarkdownSerializer,
  MarkdownParser,
  MarkdownSerializer,
} from "prosemirror-markdown";
import type { Node } from "prosemirror-model";
import { noteSchema } from "./schema.ts";

type Tokens = ReturnType<MarkdownIt["parse"]>;

// Tags stay text: what others wrote must not become a page.
const reader = new MarkdownIt("commonmark", { html: false }).enable("strikethrough");
reader.core.ruler.push("tasks", ({ tokens }) => void markTasks(tokens));

const taskStart = /^\[([ xX])\][ \t]/;

/** Reads `[ ] ` and `[x] ` at the start of a list's items as tasks. */
function markTasks(tokens: Tokens): void {
  tokens.forEach((token, at) => {
    const first = tokens[at + 2];
    const text = first?.type === "inline" ? first.children?.[0] : undefined;
    const found = text?.type === "text" ? taskStart.exec(text.content) : null;
    if (token.type === "list_item_open" && tokens[at + 1]?.type === "paragraph_open" && text && found) {
      token.attrSet("checked", found[1] === " " ? "false" : "true");
      text.content = text.content.slice(found[0].length);
    }
  });
}

const parser = new MarkdownParser(noteSchema, reader, {
  ...defaultMarkdownParser.tokens,
  s: { mark: "strike" },
  list_item: {
    block: "list_item",
    getAttrs: (token) => {
      const checked = token.attrGet("checked");
      return { checked: checked === null ? null : checked === "true" };
    },
  },
});

const serializer = new MarkdownSerializer(
  {
    ...defaultMarkdownSerializer.nodes,
    list_item(state, node) {
      const { checked } = node.attrs;
      if (typeof checked === "boolean") {
        state.write(checked ? "[x] " : "[ ] ");
      }
      state.renderContent(node);
    },
  },
  {
    ...defaultMarkdownSerializer.marks,
    strike: { open: "~~", close: "~~", mixable: true, expelEnclosingWhitespace: true },
  },
);

/** The document of a Markdown text. */
export function fromMarkdown(text: string): Node {
  return parser.parse(text);
}

/**
 * The Markdown of a document. Blocks and items are written one by one: the serializer reads all that it has written
 * before each of them, which takes seconds for a long note.
 */
export function toMarkdown(document: Node): string {
  const parts: string[] = [];
  document.forEach((block, _offset, at) => {
    const text = isList(block) ? toItems(block).join("\n") : write(block);
    // Two lists of a kind that follow each other would be read as one.
    const isApart = at > 0 && isList(block) && document.child(at - 1).type === block.type;
    parts.push(...(at === 0 ? [] : [isApart ? "\n\n\n" : "\n\n"]), text);
  });
  return parts.join("");
}

const isList = ({ type }: Node): boolean => type.name === "bullet_list" || type.name === "ordered_list";

function toItems(list: Node): string[] {
  const first = Number(list.attrs["order"] ?? 1);
  return list.children.map((item, at) => {
    const attrs = list.type.name === "ordered_list" ? { ...list.attrs, order: first + at } : list.attrs;
    return write(list.type.create(attrs, item));
  });
}

const write = (block: Node): string =>
  serializer.serialize(noteSchema.node("doc", null, [block]), { tightLists: true });

/** Harmless HTML of a Markdown text. */
export function toHtml(text: string): string {
  return reader.render(text);
}
