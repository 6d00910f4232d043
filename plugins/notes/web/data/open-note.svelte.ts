import {
  Awareness,
  applyAwarenessUpdate,
  encodeAwarenessUpdate,
  removeAwarenessStates,
} from "y-protocols/awareness";
import * as Y from "yjs";
import { atLastMoment } from "#plugins/web/kit/last-moment.ts";
import { server } from "#plugins/web/kit/server.ts";
import { CurrentReads } from "#plugins/web/kit/stores/current-reads.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { socket } from "#plugins/web/kit/stores/socket.svelte.ts";
import { type DocumentEvent, toBytes } from "./document-event.ts";
import type { NoteRecord } from "./notes.ts";
import { othersIn, type Person } from "./people.ts";
import { postEdit, type Refused, sendEdit, toDocumentId } from "./send-edit.ts";
import { unsentEdits } from "./unsent-edits.ts";

/** Edits within this time go out together. */
const gatherMs = 60;
const presenceMs = 120;
const again = 1_500;
const fromServer = "server";

/** One note in this window: its record, and its document, which follows the others' windows. */
export class OpenNote {
  readonly id: string;
  readonly document = new Y.Doc();
  readonly awareness = new Awareness(this.document);
  record = $state.raw<NoteRecord>();
  /** Why the note cannot be shown. */
  failure = $state<string>();
  /** True once the text is here. */
  isReady = $state(false);
  /** True when access was taken away, or the note is gone. */
  isClosed = $state(false);
  mayWrite = $state(false);
  /** True when the right to write was taken away here: what is typed stays in this window, and can be copied. */
  isCutOff = $state(false);
  /** Why an edit was refused. */
  refused = $state<string>();
  /** True while this window shows a text that the server did not take. */
  isUnsent = $state(false);
  /** False while edits are in this window alone, for the browser did not keep them. */
  isKept = $state(true);
  unsaved = $state(0);
  people = $state.raw<readonly Person[]>([]);
  readonly #documentId: string;
  readonly #reads = new CurrentReads();
  #pending: Uint8Array[] = [];
  /** Edits that are on their way. */
  #sending: readonly Uint8Array[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #presenceTimer: ReturnType<typeof setTimeout> | undefined;
  #rejoinTimer: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;

  constructor(id: string) {
    this.id = id;
    this.#documentId = toDocumentId(id);
  }

  /** Opens the note; what it returns closes it. */
  start(): () => void {
    const stops = [
      this.#on("ydoc:document:state", (data) => this.#receiveState(data)),
      this.#on("ydoc:document:update", ({ update }) =>
        Y.applyUpdate(this.document, toBytes(update), fromServer),
      ),
      this.#on("ydoc:awareness:update", ({ update }) =>
        applyAwarenessUpdate(this.awareness, toBytes(update), fromServer),
      ),
      this.#on("ydoc:user:joined", () => this.#sendPresence()),
      this.#on("ydoc:user:left", ({ client_id: client }) =>
        removeAwarenessStates(this.awareness, typeof client === "number" ? [client] : [], fromServer),
      ),
      this.#on("ydoc:document:closed", () => void this.#close()),
      socket.on<{ id: string }>("events:note", ({ id }) => void (id === this.id && this.load())),
      socket.onConnect((isAgain) => void (isAgain && this.#join())),
      atLastMoment(() => this.sendLast()),
    ];
    this.document.on("update", (update: Uint8Array, origin: unknown) => {
      if (origin !== fromServer && this.mayWrite) {
        this.#edit(update);
      }
    });
    this.awareness.on("update", (_changes: unknown, origin: unknown) => {
      this.people = othersIn(this.awareness);
      if (origin !== fromServer) {
        this.#presenceTimer ??= setTimeout(() => this.#sendPresence(), presenceMs);
      }
    });
    const me = session.current;
    this.awareness.setLocalStateField("user", { id: me?.id ?? "", name: me?.name ?? "" });
    void this.load();
    void this.#join();
    return () => {
      this.#isStopped = true;
      this.#keep();
      void this.#flush();
      stops.forEach((stop) => stop());
      clearTimeout(this.#timer);
      clearTimeout(this.#presenceTimer);
      clearTimeout(this.#rejoinTimer);
      void socket.emit("ydoc:document:leave", { document_id: this.#documentId }).catch(() => undefined);
      this.awareness.destroy();
    };
  }

  /** Reads the record anew, which something has changed. */
  async load(): Promise<void> {
    this.#reads.changed();
    try {
      const params = { id: this.id };
      this.record = await this.#reads.read(() => server.call("GET /api/v1/notes/:id", { params }));
      this.#setRight(this.record.write_access && !session.isView);
      this.failure = undefined;
    } catch (error) {
      if ((error as { status?: number }).status === 404 && this.record !== undefined) {
        this.isClosed = true;
        this.#setRight(false);
      } else {
        this.failure = (error as Error).message;
      }
    }
  }

  /** Takes the change of the record over at once, and stores it. Rejects when it is refused. */
  async change(change: { title?: string }): Promise<void> {
    this.record = await server.call("POST /api/v1/notes/:id/update", {
      params: { id: this.id },
      body: change,
    });
    this.#reads.changed();
  }

  /** Sends what the server may lack once more: with the page goes the socket, and what was on its way there. */
  sendLast(): void {
    const edits = [...this.#sending, ...this.#pending];
    if (edits.length > 0) {
      this.#keep();
      void postEdit(this.id, Y.mergeUpdates(edits)).catch(() => undefined);
    }
  }

  /** Keeps what the server may lack in this browser, or lets go of it once the server has it all. */
  #keep(): void {
    this.isKept = unsentEdits.keep(this.id, [...this.#sending, ...this.#pending]);
  }

  #on(event: string, handle: (data: DocumentEvent) => void): () => void {
    return socket.on<DocumentEvent>(event, (data) => {
      if (data.document_id === this.#documentId) {
        handle(data);
      }
    });
  }

  async #join(): Promise<void> {
    try {
      const answer = await socket.emit<Refused>("ydoc:document:join", { document_id: this.#documentId });
      if (answer.error !== undefined) {
        this.failure ??= answer.error;
        return;
      }
      this.#sendPresence();
    } catch {
      // The connection comes back by itself, and joins again then.
    }
  }

  /** Sends the edits that the server lacks, such as those made while the connection was away. */
  #receiveState({ state }: DocumentEvent): void {
    const bytes = toBytes(state);
    Y.applyUpdate(this.document, bytes, fromServer);
    const kept = this.mayWrite && unsentEdits.of(this.id);
    if (kept) {
      Y.applyUpdate(this.document, kept, fromServer);
    }
    this.isReady = true;
    this.isClosed = false;
    const missing = Y.encodeStateAsUpdate(this.document, Y.encodeStateVectorFromUpdate(bytes));
    this.#pending = [];
    // An update without structs and deletions has two bytes.
    if (missing.length > 2 && this.mayWrite) {
      this.#queue(missing);
    }
    this.unsaved = this.#pending.length;
    if (kept) {
      this.#keep();
    }
  }

  /** Edits after a refused one are nothing without it: what the server lacks is asked for and sent as a whole. */
  #edit(update: Uint8Array): void {
    if (this.isUnsent) {
      this.#rejoinTimer ??= setTimeout(() => {
        this.#rejoinTimer = undefined;
        void this.#join();
      }, again);
    } else {
      this.#queue(update);
    }
  }

  #queue(update: Uint8Array): void {
    this.#pending.push(update);
    this.unsaved = this.#pending.length;
    if (socket.state === "lost") {
      this.#keep();
    }
    this.#timer ??= setTimeout(() => void this.#flush(), gatherMs);
  }

  async #flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#sending.length > 0 || this.#pending.length === 0) {
      return;
    }
    const [batch, session] = [this.#pending, socket.id];
    this.#sending = batch;
    this.#pending = [];
    let wait = 0;
    try {
      const answer = await sendEdit(this.id, Y.mergeUpdates(batch));
      if (answer === true) {
        this.refused = this.isUnsent ? undefined : this.refused;
        this.isUnsent = false;
      } else {
        // Another connection is not inside yet: the note is joined anew.
        wait = session === socket.id ? this.#refuse(batch, answer) : this.#return(batch);
      }
    } catch {
      // The connection broke: the next state tells what the server lacks.
      wait = this.#return(batch);
    }
    this.#sending = [];
    this.unsaved = this.#pending.length;
    this.#keep();
    if (this.#pending.length > 0 && !this.#isStopped) {
      this.#timer ??= setTimeout(() => void this.#flush(), wait || gatherMs);
    }
  }

  /** Returns the milliseconds after which the edits are tried again; 0 where they never will be. */
  #refuse(batch: readonly Uint8Array[], { error, code }: Refused): number {
    if (code === "rate_limited" || code === "unavailable") {
      return this.#return(batch);
    }
    this.refused = error;
    if (code === "forbidden" || code === "not_found") {
      this.#setRight(false);
      void this.load();
    } else {
      this.isUnsent = true;
    }
    return 0;
  }

  #return(batch: readonly Uint8Array[]): number {
    this.#pending = [...batch, ...this.#pending];
    return again;
  }

  #sendPresence(): void {
    clearTimeout(this.#presenceTimer);
    this.#presenceTimer = undefined;
    if (!this.#isStopped && socket.state === "open") {
      const update = [...encodeAwarenessUpdate(this.awareness, [this.awareness.clientID])];
      void socket
        .emit("ydoc:awareness:update", { document_id: this.#documentId, update })
        .catch(() => undefined);
    }
  }

  async #close(): Promise<void> {
    this.isClosed = true;
    this.#setRight(false);
    await this.load();
  }

  /** A right that comes back sends what was typed without it. */
  #setRight(mayWrite: boolean): void {
    const isBack = mayWrite && this.isCutOff;
    this.isCutOff = !mayWrite && (this.isCutOff || this.mayWrite);
    this.mayWrite = mayWrite;
    if (isBack || (mayWrite && this.isReady && unsentEdits.of(this.id) !== undefined)) {
      void this.#join();
    }
  }

  /** Whether the text takes keys. */
  get isEditable(): boolean {
    return this.mayWrite || this.isCutOff;
  }
}
