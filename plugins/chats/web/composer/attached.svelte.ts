import { type FileIndexState, followIndexes } from "#plugins/web/kit/file-index.ts";
import { newId } from "#plugins/web/kit/new-id.ts";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import type { Attachment } from "#plugins/web/kit/web.ts";
import { deleteUnsent, noteNamed } from "./stored-here.ts";
import { followProcessing, isFinal, TooLarge, uploadFile } from "./upload.ts";

/** Something that goes with the next message; files are uploaded as soon as they are given. */
export class Attached {
  readonly key = newId();
  readonly name: string;
  readonly isImage: boolean;
  /** Where the image is shown from, before and after the server has it. */
  readonly preview: string | undefined;
  readonly bytes: number | undefined;
  state = $state<"uploading" | "processing" | "ready" | "failed">("uploading");
  /** Share of the bytes that the server has. */
  progress = $state(0);
  failure = $state<string>();
  /** Trying again would fail the same way. */
  #isFinal = $state(false);
  #isSent = false;
  /** As it goes into the message; undefined until it is stored. */
  attachment = $state.raw<Attachment>();
  /** How far search by meaning is, while it is not there yet. */
  index = $state.raw<FileIndexState>();
  readonly #file: File | undefined;
  readonly #stop = new AbortController();
  readonly #prepare: ((signal: AbortSignal) => Promise<Attachment>) | undefined;

  constructor(from: File | Attachment, prepare?: (signal: AbortSignal) => Promise<Attachment>) {
    this.#prepare = prepare;
    this.name = from.name;
    if (from instanceof File) {
      this.#file = from;
      this.bytes = from.size;
      this.isImage = from.type.startsWith("image/") && from.type !== "image/svg+xml";
      this.preview = this.isImage ? URL.createObjectURL(from) : undefined;
      void this.upload();
    } else {
      this.attachment = from;
      noteNamed(String(from.id));
      this.bytes = typeof from["size"] === "number" ? from["size"] : undefined;
      this.isImage = from.type === "image";
      this.preview = this.isImage && typeof from["url"] === "string" ? from["url"] : undefined;
      this.state = "ready";
      if (prepare) {
        void this.prepare();
      }
    }
  }

  /** Of documents a model is given the passages that fit the question, or all of them. */
  get canBeWhole(): boolean {
    const type = this.attachment?.type;
    return !this.isImage && this.state === "ready" && (type === "file" || type === "collection");
  }

  get isWhole(): boolean {
    return this.attachment?.["context"] === "full";
  }

  toggleWhole(): void {
    const { context: _context, ...rest } = this.attachment as Attachment;
    this.attachment = this.isWhole ? (rest as Attachment) : { ...(rest as Attachment), context: "full" };
  }

  /** Has the server read what it has not read yet. */
  async prepare(): Promise<void> {
    const { signal } = this.#stop;
    this.state = "processing";
    this.failure = undefined;
    try {
      this.attachment = (await this.#prepare?.(signal)) ?? this.attachment;
      this.state = "ready";
    } catch (error) {
      if (!signal.aborted) {
        this.state = "failed";
        this.failure = (error as Error).message;
      }
    }
  }

  /** Sound or a film: its text is what is said in it. */
  get isRecording(): boolean {
    return /^(audio|video)\//.test(this.#file?.type ?? String(this.attachment?.["content_type"] ?? ""));
  }

  get isPending(): boolean {
    return this.state === "uploading" || this.state === "processing";
  }

  /** True where what failed can be tried once more. */
  get canRetry(): boolean {
    const isStored = this.#file === undefined || this.attachment !== undefined;
    return this.state === "failed" && !this.#isFinal && (!isStored || this.#prepare !== undefined);
  }

  async retry(): Promise<void> {
    await (this.#prepare ? this.prepare() : this.upload());
  }

  async upload(): Promise<void> {
    const file = this.#file as File;
    this.state = "uploading";
    this.progress = 0;
    this.failure = undefined;
    const { signal } = this.#stop;
    try {
      const limit = session.config?.file?.max_size;
      if (limit && file.size > limit * 1_048_576) {
        throw new TooLarge(
          t("The file is larger than {limit} MB, the most that is allowed here.", { limit }),
        );
      }
      const stored = await uploadFile(file, { signal, onprogress: (share) => (this.progress = share) });
      if (signal.aborted) {
        await deleteUnsent(stored.id);
        return;
      }
      this.attachment = {
        type: this.isImage ? "image" : "file",
        id: stored.id,
        name: this.name,
        size: file.size,
        content_type: file.type,
        // Documents are found by their id; images are shown from their address.
        url: this.isImage ? `/api/v1/files/${stored.id}/content` : stored.id,
        status: "processed",
      };
      if (!this.isImage && stored.data.status === "pending") {
        this.state = "processing";
        this.#followIndex(stored.id);
        await followProcessing(stored.id, signal);
      }
      this.state = "ready";
    } catch (error) {
      if (!signal.aborted) {
        this.state = "failed";
        this.failure = (error as Error).message;
        this.#isFinal = isFinal(error);
      }
    }
  }

  #followIndex(fileId: string): void {
    const leave = followIndexes((id, state) => {
      if (id === fileId) {
        this.index = state;
      }
      if (id === fileId && state.status === "ready") {
        leave();
      }
    });
    this.#stop.signal.addEventListener("abort", leave);
  }

  /** It goes into a message, which needs it from now on. */
  send(): void {
    this.#isSent = true;
  }

  /** Ends what goes on for it. What was uploaded for it and never sent is deleted. */
  drop(): void {
    this.#stop.abort();
    if (this.#file && this.attachment && !this.#isSent) {
      void deleteUnsent(String(this.attachment.id));
    }
    if (this.#file && this.preview) {
      URL.revokeObjectURL(this.preview);
    }
  }
}
