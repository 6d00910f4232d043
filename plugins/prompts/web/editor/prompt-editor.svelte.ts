import type { Grant } from "#plugins/web/kit/access/grants.ts";
import { FormState } from "#plugins/web/kit/form.svelte.ts";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { Meanwhile } from "#plugins/web/kit/meanwhile.ts";
import { server } from "#plugins/web/kit/server.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";
import type { PromptRecord, PromptVersion } from "../prompts.ts";

const pageSize = 20;

const textsOf = ({ name, command, content, tags }: PromptRecord) => ({ name, command, content, tags });

/** One open prompt: what is stored and what is typed. */
export class PromptEditor {
  /** As it is stored; undefined for one that is not stored yet. */
  record = $state.raw<PromptRecord>();
  name = $state("");
  command = $state("");
  content = $state("");
  /** Separated by commas, as they are typed. */
  tags = $state("");
  /** What the next version is about. */
  message = $state("");
  /** Inputs of the text, for preview and trial. */
  values = $state.raw<Readonly<Record<string, unknown>>>({});
  versions = $state.raw<readonly PromptVersion[]>([]);
  hasMore = $state(false);
  readonly form = new FormState();
  readonly decision = new FormState();
  #hasOwnCommand = false;
  #meanwhile: Meanwhile<ReturnType<typeof textsOf>> | undefined;
  /** The version that was in use when it was read last. */
  #known: string | null = null;

  /** Reads a stored prompt. Throws what the server refuses with. */
  async open(id: string): Promise<void> {
    const record = await server.call("GET /api/v1/prompts/id/:id", { params: { id } });
    this.#adopt(record);
    if (record.write_access) {
      await this.readVersions();
    }
  }

  /** All that is typed, with the version that it changes. */
  get written() {
    const { name, command, content, tags, message } = this;
    return { name, command, content, tags, message, version: this.record?.version_id ?? null };
  }

  /** Shows what was typed before. */
  putBack({ version, command, ...texts }: PromptEditor["written"]): void {
    Object.assign(this, texts);
    if (version !== this.record?.version_id) {
      this.#meanwhile?.sees({} as PromptRecord);
    }
    this.record = this.record && { ...this.record, version_id: version };
    this.chooseCommand(command);
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
      record.command !== this.command.trim().replace(/^\//, "") ||
      record.content !== this.content ||
      record.tags.join("\n") !== this.#tagList.join("\n")
    );
  }

  /** The command of a new prompt follows its name until somebody writes one. */
  rename(name: string): void {
    this.name = name;
    if (this.isNew && !this.#hasOwnCommand) {
      this.command = toCommand(name);
    }
  }

  chooseCommand(command: string): void {
    this.command = command;
    this.#hasOwnCommand = command !== "";
  }

  /** True when it was stored; a draft leaves what is in use as it is. */
  async save(isProduction: boolean): Promise<boolean> {
    const typed = {
      name: this.name.trim(),
      command: this.command.trim().replace(/^\//, ""),
      content: this.content,
      tags: this.#tagList,
    };
    const more = { commit_message: this.message, is_production: isProduction };
    const isStored = await this.form.submit(async () => {
      const opened = this.record;
      const body = { ...((await this.#meanwhile?.join(typed)) ?? typed), ...more };
      const record =
        opened === undefined
          ? await server.call("POST /api/v1/prompts/create", { body })
          : await server.call("POST /api/v1/prompts/id/:id/update", {
              params: { id: opened.id },
              body: { ...body, ...(this.#known && { version_id: this.#known }) },
            });
      if (isProduction || opened === undefined) {
        this.#adopt(record);
      }
      this.message = "";
      await this.readVersions();
    });
    if (isStored) {
      toasts.show({
        text: isProduction
          ? t("Saved. /{command} writes this text now.", { command: this.command })
          : t("Kept as a draft. What is in use stays."),
        kind: "good",
      });
    }
    return isStored;
  }

  share = (grants: readonly Grant[]): Promise<boolean> =>
    this.decision.submit(async () => {
      const body = { access_grants: [...grants] };
      const route = "POST /api/v1/prompts/id/:id/access/update";
      const { access_grants } = await server.call(route, { params: this.#params, body });
      this.record = this.record && { ...this.record, access_grants };
    });

  toggle = (): Promise<boolean> =>
    this.decision.submit(async () => {
      const { is_active } = await server.call("POST /api/v1/prompts/id/:id/toggle", { params: this.#params });
      this.record = this.record && { ...this.record, is_active };
    });

  /** Puts a version into use, here as well. */
  use = (version: PromptVersion): Promise<boolean> =>
    this.decision.submit(async () => {
      const body = { version_id: version.id };
      this.#adopt(
        await server.call("POST /api/v1/prompts/id/:id/update/version", { params: this.#params, body }),
      );
      await this.readVersions();
    });

  removeVersion = (version: PromptVersion): Promise<boolean> =>
    this.decision.submit(async () => {
      const params = { ...this.#params, history_id: version.id };
      await server.call("DELETE /api/v1/prompts/id/:id/history/:history_id", { params });
      await this.readVersions();
    });

  async readVersions(page = 0): Promise<void> {
    const query = { page };
    const read = await server.call("GET /api/v1/prompts/id/:id/history", { params: this.#params, query });
    this.versions = page === 0 ? read : [...this.versions, ...read];
    this.hasMore = read.length === pageSize;
  }

  get #tagList(): string[] {
    return this.tags
      .split(",")
      .map((tag) => tag.trim())
      .filter((tag) => tag !== "");
  }

  get #params(): { id: string } {
    return { id: this.record?.id ?? "" };
  }

  #adopt(record: PromptRecord): void {
    this.record = record;
    this.#known = record.version_id;
    this.#meanwhile = new Meanwhile(textsOf(record), async () => {
      const now = await server.call("GET /api/v1/prompts/id/:id", { params: { id: record.id } });
      this.#known = now.version_id;
      return textsOf(now);
    });
    this.name = record.name;
    this.command = record.command;
    this.content = record.content;
    this.tags = record.tags.join(", ");
  }
}

/** `Translate a letter` → `translate-a-letter`. */
function toCommand(name: string): string {
  const words = name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.join("-").slice(0, 50);
}
