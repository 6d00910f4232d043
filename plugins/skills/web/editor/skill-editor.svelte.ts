import { toBase64 } from "#plugins/web/kit/base64.ts";
import type { Grant } from "#plugins/web/kit/access/grants.ts";
import { FormState } from "#plugins/web/kit/form.svelte.ts";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { Meanwhile } from "#plugins/web/kit/meanwhile.ts";
import { server } from "#plugins/web/kit/server.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";
import type { SkillRecord } from "../skills.ts";

const textsOf = ({ name, description, content }: SkillRecord) => ({ name, description, content });

/** One open skill: what is stored and what is typed. */
export class SkillEditor {
  /** As it is stored; undefined for one that is not stored yet. */
  record = $state.raw<SkillRecord>();
  id = $state("");
  name = $state("");
  description = $state("");
  content = $state("");
  readonly form = new FormState();
  readonly decision = new FormState();
  #hasOwnId = false;
  #meanwhile: Meanwhile<ReturnType<typeof textsOf>> | undefined;
  /** When it was changed, as it was read last. */
  #known = 0;

  /** Reads a stored skill. Throws what the server refuses with. */
  async open(id: string): Promise<void> {
    this.#adopt(await server.call("GET /api/v1/skills/id/:id", { params: { id } }));
  }

  /** All that is typed, with the state that it changes. */
  get written() {
    const { id, name, description, content } = this;
    return { id, name, description, content, updatedAt: this.record?.updated_at ?? null };
  }

  /** Shows what was typed before. */
  putBack({ id, name, description, content, updatedAt }: SkillEditor["written"]): void {
    [this.name, this.description, this.content] = [name, description, content];
    if (updatedAt !== this.record?.updated_at) {
      this.#meanwhile?.sees({} as SkillRecord);
    }
    this.record = this.record && { ...this.record, updated_at: updatedAt ?? this.record.updated_at };
    if (this.isNew) {
      this.chooseId(id);
    }
  }

  get isNew(): boolean {
    return this.record === undefined;
  }

  get isReadOnly(): boolean {
    return this.record?.write_access === false;
  }

  get isChanged(): boolean {
    const { record } = this;
    return (
      record === undefined ||
      record.name !== this.name.trim() ||
      record.description !== this.description.trim() ||
      record.content !== this.content
    );
  }

  /** The id of a new skill follows its name until somebody writes one. */
  rename(name: string): void {
    this.name = name;
    if (this.isNew && !this.#hasOwnId) {
      this.id = (name.toLowerCase().match(/[a-z0-9]+/g) ?? []).join("-").slice(0, 64);
    }
  }

  chooseId(id: string): void {
    this.id = id;
    this.#hasOwnId = id !== "";
  }

  /** True when it was stored. */
  async save(): Promise<boolean> {
    const { record } = this;
    const typed = { name: this.name.trim(), description: this.description.trim(), content: this.content };
    const isStored = await this.form.submit(async () => {
      const texts = (await this.#meanwhile?.join(typed)) ?? typed;
      this.#adopt(
        record === undefined
          ? await server.call("POST /api/v1/skills/create", { body: { id: this.id, ...texts } })
          : await server.call("POST /api/v1/skills/id/:id/update", {
              params: { id: record.id },
              body: { ...texts, updated_at: this.#known },
            }),
      );
    });
    if (isStored) {
      toasts.show({ text: t("Saved. Models read this text now."), kind: "good" });
    }
    return isStored;
  }

  share = (grants: readonly Grant[]): Promise<boolean> =>
    this.#decide(() =>
      server.call("POST /api/v1/skills/id/:id/access/update", {
        params: this.#params,
        body: { access_grants: [...grants] },
      }),
    );

  toggle = (): Promise<boolean> =>
    this.#decide(() => server.call("POST /api/v1/skills/id/:id/toggle", { params: this.#params }));

  /** Adds files, or replaces those of the same path, one after another. */
  addFiles = (files: readonly File[]): Promise<boolean> =>
    this.decision.submit(async () => {
      for (const file of files) {
        const body = { path: file.name, content: toBase64(new Uint8Array(await file.arrayBuffer())) };
        this.#adoptState(
          await server.call("POST /api/v1/skills/id/:id/files", { params: this.#params, body }),
        );
      }
    });

  removeFile = (path: string): Promise<boolean> =>
    this.#decide(() =>
      server.call("DELETE /api/v1/skills/id/:id/files", { params: this.#params, query: { path } }),
    );

  /** The text of a file; null for bytes that are none. */
  readFile = async (path: string): Promise<string | null> =>
    (
      await server.call("GET /api/v1/skills/id/:id/files/content", {
        params: this.#params,
        query: { path },
      })
    ).text;

  #decide(send: () => Promise<SkillRecord>): Promise<boolean> {
    return this.decision.submit(async () => this.#adoptState(await send()));
  }

  get #params(): { id: string } {
    return { id: this.record?.id ?? "" };
  }

  #adopt(record: SkillRecord): void {
    this.record = record;
    this.#known = record.updated_at;
    this.#meanwhile = new Meanwhile(textsOf(record), async () => {
      const now = await server.call("GET /api/v1/skills/id/:id", { params: { id: record.id } });
      this.#known = now.updated_at;
      return textsOf(now);
    });
    this.id = record.id;
    this.name = record.name;
    this.description = record.description;
    this.content = record.content;
  }

  /** Takes over all but the texts, which stay as they are typed. */
  #adoptState({ name: _name, description: _description, content: _content, ...state }: SkillRecord): void {
    this.record = this.record && { ...this.record, ...state };
    this.#known = state.updated_at;
  }
}
