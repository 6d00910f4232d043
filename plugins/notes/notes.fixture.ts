import * as Y from "yjs";
import type { Answer, TestUser } from "#test/support/app.ts";
import type { PlainClient } from "#test/support/sockets.ts";
import { openDocument, readMarkdown, toEdit } from "./live/document.ts";

/** A client of one account's notes over HTTP. */
export interface NoteClient {
  readonly user: TestUser;
  /** `METHOD /rest` below `/api/v1/notes`. */
  call(route: string, body?: unknown): Promise<Answer>;
  /** Makes a note and answers it; fails when that fails. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
  make(title: string, md?: string, more?: object): Promise<any>;
  /** The Markdown of a note as it is now. */
  read(id: string): Promise<string>;
}

export function noteClient(user: TestUser): NoteClient {
  const call: NoteClient["call"] = (route, body) => {
    const [method, path] = route.split(" ", 2) as [string, string];
    return user.call(`${method} /api/v1/notes${path}`, body);
  };
  return {
    user,
    call,
    async make(title, md = "", more = {}) {
      const made = await call("POST /create", { title, data: { content: { md } }, ...more });
      if (made.status !== 200) {
        throw new Error(`the note could not be made: ${made.status}: ${made.text}`);
      }
      return made.body;
    },
    read: async (id) => (await call(`GET /${id}`)).body.data.content.md,
  };
}

/** A window that has a note open, as far as its document goes. */
export interface Writer {
  readonly client: PlainClient;
  readonly document: Y.Doc;
  /** Replaces the text by an edit, and resolves with what the server says to it. */
  write(markdown: string): Promise<unknown>;
  /** Adds a paragraph at the end. */
  add(paragraph: string): Promise<unknown>;
  text(): string;
  /** Sends everything that the window knows through another connection, as a window does that comes back. */
  sync(client: PlainClient): Promise<unknown>;
}

/** Opens a note in a client; fails when the server refuses. */
export async function openWriter(client: PlainClient, noteId: string): Promise<Writer> {
  const id = `note:${noteId}`;
  const document = openDocument([]);
  let seen = 0;
  const follow = () => {
    for (const { event, data } of client.events.slice(seen)) {
      seen += 1;
      if (data?.document_id === id && /^ydoc:document:(state|update)$/.test(event)) {
        Y.applyUpdate(document, new Uint8Array(data.state ?? data.update), "server");
      }
    }
  };
  const joined = await client.emit("ydoc:document:join", { document_id: id });
  if (joined?.error !== undefined) {
    throw new Error(`the note could not be opened: ${joined.error}`);
  }
  const send = (update: Uint8Array, over = client) =>
    over.emit("ydoc:document:update", {
      document_id: id,
      update: Buffer.from(update).toString("base64"),
    });
  return {
    client,
    document,
    async write(markdown) {
      follow();
      return await send(toEdit(document, markdown));
    },
    async add(paragraph) {
      follow();
      const before = Y.encodeStateVector(document);
      const element = new Y.XmlElement("paragraph");
      element.insert(0, [new Y.XmlText(paragraph)]);
      const fragment = document.getXmlFragment("prosemirror");
      fragment.insert(fragment.length, [element]);
      return await send(Y.encodeStateAsUpdate(document, before));
    },
    text() {
      follow();
      return readMarkdown(document);
    },
    sync: (other) => send(Y.encodeStateAsUpdate(document), other),
  };
}
