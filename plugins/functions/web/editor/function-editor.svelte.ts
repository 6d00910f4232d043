import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { CodeProblem } from "#plugins/web/kit/code/problems.ts";
import { FormState } from "#plugins/web/kit/form.svelte.ts";
import { lengthProblem } from "#plugins/web/kit/code/length-problem.ts";
import { server } from "#plugins/web/kit/server.ts";
import { toasts } from "#plugins/web/kit/stores/toasts.svelte.ts";
import { createTypesClient } from "#plugins/web/kit/code/types/types-client.ts";
import { toId } from "#plugins/web/kit/code/read-import.ts";
import {
  type FunctionCheck,
  type FunctionRecord,
  type FunctionVersion,
  type NewSample,
  type Sample,
  type SampleRun,
} from "../functions.ts";

const checkPauseMs = 400;

/** One open function: what is stored, what is typed, and what the server makes of it. */
export class FunctionEditor {
  /** As it is stored; undefined for one that is not stored yet. */
  record = $state.raw<FunctionRecord>();
  name = $state("");
  id = $state("");
  content = $state("");
  check = $state.raw<FunctionCheck>();
  versions = $state.raw<readonly FunctionVersion[]>([]);
  samples = $state.raw<readonly Sample[]>([]);
  runs = $state.raw<readonly SampleRun[]>([]);
  readonly form = new FormState();
  readonly switches = new FormState();
  isChecking = $state(false);
  readonly types = createTypesClient();
  #typeProblems = $state.raw<readonly CodeProblem[]>([]);
  theirs = $state.raw<FunctionRecord>();
  /** The version that is being changed. */
  #opened = "";
  #isOwnId = false;
  /** The last save was refused, and the code does not load. */
  #isCodeRefused = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #checks = 0;

  /** Reads a stored function. Throws what the server refuses with. */
  async open(id: string): Promise<void> {
    const params = { id };
    const [record, versions, samples] = await Promise.all([
      server.call("GET /api/v1/functions/id/:id", { params }),
      server.call("GET /api/v1/functions/id/:id/versions", { params }),
      server.call("GET /api/v1/functions/id/:id/samples", { params }),
    ]);
    this.adopt(record);
    this.name = record.name;
    this.id = record.id;
    this.content = record.content;
    this.versions = versions;
    this.samples = samples;
    await this.checkNow();
  }

  /** Begins a new function. */
  async begin({ name, content }: { name: string; content: string }): Promise<void> {
    this.content = content;
    this.rename(name);
    await this.checkNow();
  }

  adopt(record: FunctionRecord): void {
    this.record = record;
    this.#opened = record.version_id;
    this.theirs = undefined;
  }

  /** Takes over whether it is on and for whom; the code stays the one that was opened. */
  #adoptState(next: FunctionRecord): void {
    const { name, content, version_id } = this.record ?? next;
    this.record = { ...next, name, content, version_id };
  }

  /** Somebody else's version that was stored while this one was written. */
  async #findTheirs(): Promise<void> {
    if (this.record) {
      const stored = await server.call("GET /api/v1/functions/id/:id", { params: this.#params });
      this.theirs = stored.version_id === this.#opened ? undefined : stored;
    }
  }

  /** Stores what is typed over the version that was stored meanwhile, which stays among the versions. */
  async saveOver(): Promise<void> {
    this.#opened = this.theirs?.version_id ?? this.#opened;
    await this.save();
  }

  /** All that is typed, with the version that it changes. */
  get written() {
    return { name: this.name, id: this.id, content: this.content, version: this.#opened };
  }

  /** Shows what was typed before. */
  putBack({ name, id, content, version }: FunctionEditor["written"]): void {
    [this.name, this.content, this.#opened] = [name, content, version];
    if (this.isNew) {
      this.chooseId(id);
    }
    this.scheduleCheck();
  }

  get isNew(): boolean {
    return this.record === undefined;
  }

  get isChanged(): boolean {
    return (
      this.record === undefined || this.record.content !== this.content || this.record.name !== this.name
    );
  }

  /** The type of the code that is typed; that of the stored one while the typed code does not load. */
  get type(): string | null {
    return this.check?.type ?? this.record?.type ?? null;
  }

  /** Where the code does not load; else where its types do not fit. */
  get problems(): readonly CodeProblem[] {
    const tooLong = lengthProblem(this.content);
    const { line, column, message } = this.check?.error ?? {};
    const error = message === undefined ? undefined : { line: line ?? 1, column: column ?? 1, message };
    return tooLong ? [tooLong] : error ? [{ ...error, severity: "error" }] : this.#typeProblems;
  }

  /** The id of a new function follows its name until somebody writes one. */
  rename(name: string): void {
    this.name = name;
    if (this.isNew && !this.#isOwnId) {
      this.id = toId(name);
    }
  }

  chooseId(id: string): void {
    this.id = id;
    this.#isOwnId = id !== "";
  }

  /** Called when the code was changed: it is checked when typing pauses. */
  scheduleCheck(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.checkNow(), checkPauseMs);
  }

  async checkNow(): Promise<void> {
    const turn = ++this.#checks;
    this.isChecking = true;
    void this.types.check(this.content).then((problems) => {
      this.#typeProblems = turn === this.#checks ? problems : this.#typeProblems;
    });
    const found = lengthProblem(this.content) ? undefined : await checkCode(this.content);
    // Only the check of the latest text counts.
    if (turn === this.#checks) {
      this.check = found ?? this.check;
      this.isChecking = false;
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

  /** Stores what is typed and runs the pinned samples. True when it was stored. */
  async save(): Promise<boolean> {
    const isNew = this.isNew;
    const [name, content] = [this.name.trim(), this.content];
    const isStored = await this.form.submit(async () => {
      this.adopt(
        isNew
          ? await server.call("POST /api/v1/functions/create", { body: { id: this.id, name, content } })
          : await server.call("POST /api/v1/functions/id/:id/update", {
              params: this.#params,
              body: { name, content, version_id: this.#opened },
            }),
      );
    });
    if (!isStored) {
      // What is typed may have been changed since, and load by now.
      const [refused] = await Promise.all([checkCode(content), this.checkNow(), this.#findTheirs()]);
      this.#isCodeRefused = Boolean(refused?.error);
      this.#withdrawRefusal();
      return false;
    }
    this.id = this.record?.id ?? this.id;
    await Promise.all([this.readVersions(), this.runSamples()]);
    const failed = this.runs.filter(({ passed }) => !passed).length;
    toasts.show(
      failed === 0
        ? {
            text: this.record?.is_active
              ? t("Saved. New requests take it.")
              : t("Saved. Switch it on when it is ready."),
            kind: "good",
          }
        : { text: t("Saved, but {count} samples no longer pass.", { count: failed }), kind: "warning" },
    );
    return true;
  }

  get #params(): { id: string } {
    return { id: this.record?.id ?? this.id };
  }

  async readVersions(): Promise<void> {
    this.versions = await server.call("GET /api/v1/functions/id/:id/versions", { params: this.#params });
  }

  async runSamples(content?: string): Promise<void> {
    if (this.samples.length > 0) {
      const body = content === undefined ? {} : { content };
      this.runs = await server.call("POST /api/v1/functions/id/:id/samples/run", {
        params: this.#params,
        body,
      });
    }
  }

  async pin(sample: NewSample): Promise<void> {
    const added = await server.call("POST /api/v1/functions/id/:id/samples", {
      params: this.#params,
      body: sample,
    });
    this.samples = [...this.samples, added as Sample];
    this.runs = [
      ...this.runs,
      { ...added, passed: true, result: added.expected, error: null, time_ms: 0 } as SampleRun,
    ];
  }

  async unpin(sample: string): Promise<void> {
    await server.call("DELETE /api/v1/functions/id/:id/samples/:sample", {
      params: { ...this.#params, sample },
    });
    this.samples = this.samples.filter(({ id }) => id !== sample);
    this.runs = this.runs.filter(({ id }) => id !== sample);
  }

  async restore(version: number): Promise<void> {
    const params = { ...this.#params, version };
    await this.form.submit(async () => {
      const record = await server.call("POST /api/v1/functions/id/:id/versions/:version/restore", { params });
      this.adopt(record);
      this.content = record.content;
    });
    await Promise.all([this.readVersions(), this.checkNow(), this.runSamples()]);
  }

  toggle = (): Promise<boolean> =>
    this.switches.submit(async () =>
      this.#adoptState(await server.call("POST /api/v1/functions/id/:id/toggle", { params: this.#params })),
    );

  toggleGlobal = (): Promise<boolean> =>
    this.switches.submit(async () =>
      this.#adoptState(
        await server.call("POST /api/v1/functions/id/:id/toggle/global", { params: this.#params }),
      ),
    );

  useForGroups = (groupIds: readonly string[]): Promise<boolean> =>
    this.switches.submit(async () => {
      const body = { group_ids: [...groupIds] };
      this.#adoptState(
        await server.call("POST /api/v1/functions/id/:id/groups", { params: this.#params, body }),
      );
    });

  approve = (): Promise<boolean> =>
    this.switches.submit(async () => {
      const body = { version_id: this.record?.version_id ?? "" };
      this.#adoptState(
        await server.call("POST /api/v1/functions/id/:id/pending/approve", { params: this.#params, body }),
      );
    });

  decline = (): Promise<boolean> =>
    this.switches.submit(async () =>
      this.#adoptState(
        await server.call("POST /api/v1/functions/id/:id/pending/decline", { params: this.#params }),
      ),
    );
}

/** Check of code by the server; undefined when it does not answer. */
async function checkCode(content: string): Promise<FunctionCheck | undefined> {
  return await server.call("POST /api/v1/functions/check", { body: { content } }).catch(() => undefined);
}
