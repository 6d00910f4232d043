import type { Grant } from "#plugins/web/kit/access/grants.ts";
import type { CodeProblem } from "#plugins/web/kit/code/problems.ts";
import { toId } from "#plugins/web/kit/code/read-import.ts";
import { createTypesClient } from "#plugins/web/kit/code/types/types-client.ts";
import { FormState } from "#plugins/web/kit/form.svelte.ts";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { lengthProblem } from "#plugins/web/kit/code/length-problem.ts";
import { Meanwhile } from "#plugins/web/kit/meanwhile.ts";
import { server } from "#plugins/web/kit/server.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";
import {
  type Bag,
  checkCode,
  type ToolCheck,
  type ToolRecord,
  type ToolTrial,
  type ToolVersion,
} from "../tools.ts";

const checkPauseMs = 400;

const textsOf = ({ name, content }: ToolRecord) => ({ name, content: content ?? "" });
type Texts = ReturnType<typeof textsOf>;

/** One open tool: what is stored, what is typed, and what a call of it gave. */
export class ToolEditor {
  /** As it is stored; undefined for one that is not stored yet. */
  record = $state.raw<ToolRecord>();
  name = $state("");
  id = $state("");
  content = $state("");
  check = $state.raw<ToolCheck>();
  versions = $state.raw<readonly ToolVersion[]>([]);
  /** The function that is tried, and its parameters by function. */
  called = $state<string>();
  parameters = $state.raw<Readonly<Record<string, Bag>>>({});
  trial = $state.raw<ToolTrial>();
  /** Valves that are typed and not saved; trials take them. */
  valves = $state.raw<Bag>();
  userValves = $state.raw<Bag>({});
  readonly form = new FormState();
  readonly trialForm = new FormState();
  readonly decision = new FormState();
  readonly types = createTypesClient();
  #typeProblems = $state.raw<readonly CodeProblem[]>([]);
  #hasOwnId = false;
  #meanwhile: Meanwhile<Texts> | undefined;
  /** The version that was stored when it was read last. */
  #known: string | null = null;
  /** The last save was refused, and the code does not load. */
  #isCodeRefused = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #turn = 0;

  /** Reads a stored tool. Throws what the server refuses with. */
  async open(id: string): Promise<void> {
    const params = { id };
    const record = await server.call("GET /api/v1/tools/id/:id", { params });
    this.#adopt(record);
    this.name = record.name;
    this.id = record.id;
    this.content = record.content ?? "";
    // Mere readers see what it does, and no versions.
    const [versions] = await Promise.all([
      record.write_access ? server.call("GET /api/v1/tools/id/:id/versions", { params }) : [],
      record.write_access ? this.checkNow() : undefined,
    ]);
    this.versions = versions;
  }

  /** Begins a new tool. */
  async begin({ name, content }: { name: string; content: string }): Promise<void> {
    this.content = content;
    this.rename(name);
    await this.checkNow();
  }

  /** All that is typed, with the version that it changes. */
  get written() {
    return { name: this.name, id: this.id, content: this.content, version: this.record?.version_id ?? null };
  }

  /** Shows what was typed before. */
  putBack({ name, id, content, version }: ToolEditor["written"]): void {
    this.name = name;
    if (version !== this.record?.version_id) {
      this.#meanwhile?.sees({} as Texts);
    }
    this.record = this.record && { ...this.record, version_id: version };
    if (this.isNew) {
      this.chooseId(id);
    }
    this.write(content);
  }

  get isNew(): boolean {
    return this.record === undefined;
  }

  get isChanged(): boolean {
    return this.isNew || this.record?.content !== this.content || this.record?.name !== this.name;
  }

  /** Where the code does not load; else where its types do not fit. */
  get problems(): readonly CodeProblem[] {
    const tooLong = lengthProblem(this.content);
    const { line, column, message } = this.check?.error ?? {};
    const error = message === undefined ? undefined : { line: line ?? 1, column: column ?? 1, message };
    return tooLong ? [tooLong] : error ? [{ ...error, severity: "error" }] : this.#typeProblems;
  }

  /** The function that is tried: the chosen one while the code has it. */
  get spec() {
    const specs = this.check?.specs ?? [];
    return specs.find(({ name }) => name === this.called) ?? specs[0];
  }

  /** The id of a new tool follows its name until somebody writes one. */
  rename(name: string): void {
    this.name = name;
    if (this.isNew && !this.#hasOwnId) {
      this.id = toId(name);
    }
  }

  chooseId(id: string): void {
    this.id = id;
    this.#hasOwnId = id !== "";
  }

  write(content: string): void {
    this.content = content;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.checkNow(), checkPauseMs);
  }

  async checkNow(): Promise<void> {
    const turn = ++this.#turn;
    void this.types.check(this.content).then((problems) => {
      this.#typeProblems = turn === this.#turn ? problems : this.#typeProblems;
    });
    const found = lengthProblem(this.content)
      ? undefined
      : await checkCode(this.content).catch(() => undefined);
    // Only the check of the latest text counts.
    if (turn === this.#turn) {
      this.check = found ?? this.check;
      this.#withdrawRefusal();
    }
  }

  /** The refusal of code that does not load counts until the code loads. */
  #withdrawRefusal(): void {
    if (this.#isCodeRefused && !this.check?.error) {
      this.#isCodeRefused = false;
      this.form.clear();
    }
  }

  /** Calls the chosen function of the typed code. */
  async run(): Promise<void> {
    const { spec } = this;
    if (spec === undefined) {
      return;
    }
    this.trial = undefined;
    await this.trialForm.submit(async () => {
      const body = {
        content: this.content,
        name: spec.name,
        parameters: { ...this.parameters[spec.name] },
        user_valves: { ...this.userValves },
        ...(this.valves && { valves: { ...this.valves } }),
      };
      this.trial = await server.call("POST /api/v1/tools/try", { body });
    });
  }

  /** True when it was stored. */
  async save(): Promise<boolean> {
    const [name, content] = [this.name.trim(), this.content];
    const isStored = await this.form.submit(async () => {
      const texts = (await this.#meanwhile?.join({ name, content })) ?? { name, content };
      this.#adopt(
        this.record === undefined
          ? await server.call("POST /api/v1/tools/create", { body: { id: this.id, ...texts } })
          : await server.call("POST /api/v1/tools/id/:id/update", {
              params: this.#params,
              body: { ...texts, ...(this.#known && { version_id: this.#known }) },
            }),
      );
      [this.name, this.content] = [texts.name, texts.content];
    });
    if (!isStored) {
      // What is typed may have been changed since, and load by now.
      const [refused] = await Promise.all([checkCode(content).catch(() => undefined), this.checkNow()]);
      this.#isCodeRefused = Boolean(refused?.error);
      this.#withdrawRefusal();
      return false;
    }
    this.id = this.record?.id ?? this.id;
    await this.readVersions();
    toasts.show(
      this.record?.pending
        ? { text: t("Saved. An administrator is asked before models may call it.") }
        : { text: t("Saved. Models call it where it is switched on."), kind: "good" },
    );
    return true;
  }

  share = (grants: readonly Grant[]): Promise<boolean> =>
    this.decision.submit(async () => {
      const body = { access_grants: [...grants] };
      this.#adoptState(
        await server.call("POST /api/v1/tools/id/:id/access/update", { params: this.#params, body }),
      );
    });

  approve = (): Promise<boolean> =>
    this.decision.submit(async () => {
      const body = { version_id: this.record?.version_id ?? "" };
      this.#adoptState(
        await server.call("POST /api/v1/tools/id/:id/pending/approve", { params: this.#params, body }),
      );
    });

  decline = (): Promise<boolean> =>
    this.decision.submit(async () =>
      this.#adoptState(
        await server.call("POST /api/v1/tools/id/:id/pending/decline", { params: this.#params }),
      ),
    );

  async readVersions(): Promise<void> {
    this.versions = await server.call("GET /api/v1/tools/id/:id/versions", { params: this.#params });
  }

  readVersion = async (version: number): Promise<string> =>
    (
      await server.call("GET /api/v1/tools/id/:id/versions/:version", {
        params: { ...this.#params, version },
      })
    ).content;

  restore = async (version: number): Promise<boolean> => {
    const params = { ...this.#params, version };
    const isDone = await this.form.submit(async () => {
      const record = await server.call("POST /api/v1/tools/id/:id/versions/:version/restore", { params });
      this.#adopt(record);
      this.content = record.content ?? "";
    });
    await Promise.all([this.readVersions(), this.checkNow()]);
    return isDone;
  };

  get #params(): { id: string } {
    return { id: this.record?.id ?? this.id };
  }

  #adopt(record: ToolRecord): void {
    this.record = record;
    this.#known = record.version_id ?? null;
    this.#meanwhile = new Meanwhile(textsOf(record), async () => {
      const now = await server.call("GET /api/v1/tools/id/:id", { params: { id: record.id } });
      this.#known = now.version_id ?? null;
      return textsOf(now);
    });
  }

  /** Takes over for whom it is; the code stays the one that was opened. */
  #adoptState({ content: _content, name: _name, version_id: _version, ...state }: ToolRecord): void {
    this.record = this.record && { ...this.record, ...state };
  }
}
