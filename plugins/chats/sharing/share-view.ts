type Bag = Record<string, unknown>;

/**
 * Keys of a message that visitors may see: what was said and shown, and nothing that names rows of the platform. What a
 * filter took out of a reply (`originalContent`) is not shown.
 */
const shownKeys = new Set(
  "id parentId childrenIds role content timestamp modelName modelIdx done error".split(" "),
);
const shownChatKeys = new Set(["title", "timestamp"]);

/** What the snapshot for visitors says of the chat itself. */
export function toOpenHead(chat: Bag): Bag {
  return pick(chat, shownChatKeys);
}

/**
 * A message of the snapshot for visitors without an account: no ids of files, users and models (promise S113). What is
 * new in a message does not show until somebody decides that it may.
 */
export function toOpenMessage(message: Bag): Bag {
  const shown = pick(message, shownKeys);
  const output = Array.isArray(message["output"]) ? message["output"].flatMap(toOpenItem) : [];
  return {
    ...shown,
    ...(shown["content"] === undefined ? {} : { content: toOpenContent(shown["content"]) }),
    ...(output.length > 0 ? { output } : {}),
  };
}

/** Texts of a message; pictures lie behind an account. */
function toOpenContent(content: unknown): unknown {
  return Array.isArray(content)
    ? content
        .filter((block) => typeof toBag(block)["text"] === "string")
        .map((block) => pick(toBag(block), new Set(["type", "text"])))
    : content;
}

/** Texts and thoughts of a structured reply; what tools were given and gave stays inside. */
function toOpenItem(item: unknown): Bag[] {
  const { type, content, ...rest } = toBag(item);
  if (type !== "message" && type !== "reasoning") {
    return [];
  }
  return [
    { type, ...pick(rest, new Set(["id", "status", "role", "duration"])), content: toOpenContent(content) },
  ];
}

function pick(from: Bag, keys: ReadonlySet<string>): Bag {
  return Object.fromEntries(Object.entries(from).filter(([key]) => keys.has(key)));
}

function toBag(value: unknown): Bag {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Bag) : {};
}
