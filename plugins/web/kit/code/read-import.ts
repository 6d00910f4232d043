/** Code of a file that is about to be imported. */
export interface Incoming {
  readonly id: string;
  readonly name: string;
  readonly content: string;
}

/** Reads functions or tools out of a file: an export, or code itself. Throws an error that says what is wrong. */
export function readImport(fileName: string, text: string): readonly Incoming[] {
  if (!fileName.endsWith(".json")) {
    const name = fileName.replace(/\.(js|ts|mjs)$/, "");
    return [{ id: toId(name), name, content: text }];
  }
  const parsed: unknown = JSON.parse(text);
  const list = Array.isArray(parsed) ? parsed : [parsed];
  return list.map((entry: unknown, index) => {
    const { id, name, content } = (entry ?? {}) as Partial<Record<keyof Incoming, unknown>>;
    if (typeof id !== "string" || typeof content !== "string") {
      throw new TypeError(`Entry ${index + 1} has no id or no content.`);
    }
    return { id, name: typeof name === "string" && name !== "" ? name : id, content };
  });
}

/** `Mask e-mail` → `mask_e_mail`: an id that the server takes. */
export function toId(name: string): string {
  const words = name
    .toLowerCase()
    .normalize("NFKD")
    .replaceAll(/[^a-z0-9]+/g, "_")
    .slice(0, 60);
  const id = words.replace(/^_/, "").replace(/_$/, "");
  return /^[0-9]/.test(id) ? `f_${id}` : id;
}
