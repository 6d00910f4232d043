import { isSame, type Grant } from "#plugins/web/kit/access/grants.ts";
import { FormState } from "#plugins/web/kit/form.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { type BaseModel, findModel, grantsOf, type ModelRecord, readBases } from "../model-record.ts";
import { type Draft, emptyDraft, problemsOf, toBody, toDraft } from "./draft.ts";

/** A function that can be attached to a model. */
export interface Attachable {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly isGlobal: boolean;
  readonly isActive: boolean;
}

/** The editor of one model: what is stored, what is typed, and the way to the server. */
export class ModelEditor {
  readonly form = new FormState();
  draft = $state.raw<Draft>(emptyDraft(""));
  record = $state.raw<ModelRecord>();
  bases = $state.raw<readonly BaseModel[]>([]);
  functions = $state.raw<readonly Attachable[]>([]);
  state = $state<"loading" | "ready" | "missing" | "failed">("loading");
  failure = $state<string>();
  /** The model of somebody else that changed while this page was open. */
  conflict = $state.raw<ModelRecord>();
  #stored = $state("");

  readonly isNew: boolean;
  readonly #id: string | undefined;
  readonly #from: string | undefined;

  constructor({ id, from }: { id: string | undefined; from: string | undefined }) {
    this.isNew = id === undefined;
    this.#id = id;
    this.#from = from;
  }

  isChanged = $derived(this.state === "ready" && JSON.stringify(this.draft) !== this.#stored);

  /** Shows what was typed before. */
  putBack(draft: Draft): void {
    this.draft = draft;
  }

  get mayWrite(): boolean {
    return this.record?.write_access ?? true;
  }

  async load(): Promise<void> {
    this.state = "loading";
    try {
      const isAdmin = session.current?.role === "admin";
      const [bases, record, functions] = await Promise.all([
        readBases(isAdmin),
        this.#read(),
        isAdmin ? readFunctions() : [],
      ]);
      this.bases = bases;
      this.functions = functions;
      this.#show(record, bases);
    } catch (error) {
      this.failure = (error as Error).message;
      this.state = "failed";
    }
  }

  change(change: Partial<Draft>): void {
    this.draft = { ...this.draft, ...change };
  }

  /** Stored metadata with what sections of other plugins changed. */
  get meta(): Readonly<Record<string, unknown>> {
    return { ...this.record?.meta, ...this.draft.extraMeta };
  }

  changeMeta(change: Readonly<Record<string, unknown>>): void {
    this.change({ extraMeta: { ...this.draft.extraMeta, ...change } });
  }

  /** Stores what is typed; resolves to the id of the model, undefined when it was refused. */
  async save(overwrite = false): Promise<string | undefined> {
    const problems = problemsOf(this.draft);
    if (Object.keys(problems).length > 0) {
      this.form.refuse(problems);
      return undefined;
    }
    let id: string | undefined;
    await this.form.submit(async () => {
      if (this.record && !overwrite && (await this.#isOutdated(this.record))) {
        return;
      }
      this.conflict = undefined;
      const body = toBody(this.draft, this.record) as never;
      const saved = this.record
        ? await server.call("POST /api/v1/models/model/update", { body })
        : await server.call("POST /api/v1/models/create", { body });
      const wanted = this.draft.grants;
      this.record = isSame(wanted, grantsOf(saved)) ? saved : await this.#share(saved.id, wanted);
      this.draft = toDraft(this.record);
      this.#stored = JSON.stringify(this.draft);
      id = this.record.id;
    });
    return id;
  }

  /** Shows what somebody else stored and forgets what is typed here. */
  takeTheirs(): void {
    if (this.conflict) {
      this.#show(this.conflict, this.bases);
      this.conflict = undefined;
    }
  }

  takeBack(): void {
    this.#show(this.record, this.bases);
    this.form.clear();
  }

  async #share(id: string, grants: readonly Grant[]): Promise<ModelRecord> {
    return await server.call("POST /api/v1/models/model/access/update", {
      body: { id, access_grants: [...grants] },
    });
  }

  async #isOutdated({ id, updated_at: seen }: ModelRecord): Promise<boolean> {
    const now = await findModel(id);
    if (now && now.updated_at !== seen) {
      this.conflict = now;
      return true;
    }
    return false;
  }

  async #read(): Promise<ModelRecord | undefined> {
    const id = this.#id ?? this.#from;
    return id === undefined ? undefined : await findModel(id);
  }

  #show(record: ModelRecord | undefined, bases: readonly BaseModel[]): void {
    const first = bases[0]?.id ?? "";
    if (this.isNew) {
      const source = record ? toDraft(record) : { ...emptyDraft(this.#from ?? first) };
      this.draft = record
        ? { ...source, id: `${source.id}-copy`, base: source.base || record.id, grants: [] }
        : source;
    } else if (record) {
      this.record = record;
      this.draft = toDraft(record);
    } else {
      // A provider's model without a record: saving makes one that edits it.
      const base = bases.find(({ id }) => id === this.#id);
      if (!base) {
        this.state = "missing";
        return;
      }
      this.draft = { ...emptyDraft(""), id: base.id, name: base.name, grants: base.grants };
    }
    this.#stored = JSON.stringify(this.draft);
    this.state = "ready";
  }
}

async function readFunctions(): Promise<readonly Attachable[]> {
  const list = await server.call("GET /api/v1/functions").catch(() => []);
  return list.map(({ id, name, type, is_global: isGlobal, is_active: isActive }) => ({
    id,
    name,
    type,
    isGlobal,
    isActive,
  }));
}
