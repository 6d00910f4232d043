import { SvelteMap } from "svelte/reactivity";
import type { Api } from "#plugins/catalogue.ts";
import { server } from "#plugins/web/kit/server.ts";
import { emptySettings, findProblems, type SettingsDraft, toSettings } from "./settings.ts";

export type LabAnswer = Api["POST /api/v1/retrieval/lab/search"]["answer"];
export type LabPassage = LabAnswer["passages"][number];
export type GoldenQuestion = Api["GET /api/v1/retrieval/lab/questions"]["answer"][number];
export type GoldenRun = Api["GET /api/v1/retrieval/lab/runs"]["answer"][number];

/** Something that can be searched. */
export interface Place {
  readonly kind: "collection" | "file";
  readonly id: string;
  readonly name: string;
}

/** One search of the question: the page shows one, or two with other settings side by side. */
export class Trial {
  draft = $state<SettingsDraft>(emptySettings());
  answer = $state.raw<LabAnswer>();
  failure = $state<string>();
  isBusy = $state(false);
  problems = $derived(findProblems(this.draft));
  isSound = $derived(Object.values(this.problems).every((problem) => problem === undefined));
}

/** The retrieval lab: a question, its searches, and the golden set. */
export class Lab {
  question = $state("");
  chosen = $state.raw<readonly Place[]>([]);
  trials = $state.raw<readonly Trial[]>([new Trial()]);
  /** Passages that answer the question, by their place in a text. */
  readonly marked = new SvelteMap<string, LabPassage>();
  questions = $state.raw<readonly GoldenQuestion[]>();
  runs = $state.raw<readonly GoldenRun[]>([]);
  failure = $state<string>();
  isRunning = $state(false);
  k = $state("5");

  canAsk = $derived(
    this.question.trim() !== "" && this.chosen.length > 0 && this.trials.every(({ isSound }) => isSound),
  );

  async load(): Promise<void> {
    try {
      [this.questions, this.runs] = await Promise.all([
        server.call("GET /api/v1/retrieval/lab/questions"),
        server.call("GET /api/v1/retrieval/lab/runs"),
      ]);
      this.failure = undefined;
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }

  async ask(): Promise<void> {
    this.marked.clear();
    await Promise.all(this.trials.map((trial) => this.#ask(trial)));
  }

  async #ask(trial: Trial): Promise<void> {
    trial.isBusy = true;
    trial.failure = undefined;
    try {
      const body = { question: this.question, ...this.#scope(), settings: toSettings(trial.draft) };
      trial.answer = await server.call("POST /api/v1/retrieval/lab/search", { body });
    } catch (error) {
      trial.failure = (error as Error).message;
    }
    trial.isBusy = false;
  }

  compare(isOn: boolean): void {
    this.trials = isOn ? [...this.trials, new Trial()] : this.trials.slice(0, 1);
  }

  mark(passage: LabPassage, isOn: boolean): void {
    const key = placeOf(passage);
    if (isOn) {
      this.marked.set(key, passage);
    } else {
      this.marked.delete(key);
    }
  }

  isMarked = (passage: LabPassage): boolean => this.marked.has(placeOf(passage));

  async keep(): Promise<void> {
    const expected = [...this.marked.values()].map(({ source_id, name, start, end, content }) => ({
      source_id,
      name,
      start,
      end,
      excerpt: content.slice(0, 400),
    }));
    await this.#change(() =>
      server.call("POST /api/v1/retrieval/lab/questions", {
        body: { question: this.question, ...this.#scope(), expected },
      }),
    );
  }

  async remove({ id }: GoldenQuestion): Promise<void> {
    await this.#change(() => server.call("DELETE /api/v1/retrieval/lab/questions/:id", { params: { id } }));
  }

  /** Asks all golden questions with the settings of the first search. */
  async run(): Promise<void> {
    const [trial] = this.trials;
    const body = { settings: trial ? toSettings(trial.draft) : {}, k: Number(this.k) };
    this.isRunning = true;
    await this.#change(() => server.call("POST /api/v1/retrieval/lab/runs", { body }));
    this.isRunning = false;
  }

  /** Puts a golden question into the form. */
  open({ question, files, collections }: GoldenQuestion, nameOf: (id: string) => string | undefined): void {
    this.question = question;
    const toPlace = (kind: Place["kind"]) => (id: string) => ({ kind, id, name: nameOf(id) ?? id });
    this.chosen = [...collections.map(toPlace("collection")), ...files.map(toPlace("file"))];
  }

  async #change(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
      await this.load();
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }

  #scope() {
    const ids = (kind: Place["kind"]) => this.chosen.flatMap((one) => (one.kind === kind ? [one.id] : []));
    return { files: ids("file"), collections: ids("collection") };
  }
}

const placeOf = ({ source_id: source, start, end }: LabPassage) => `${source} ${start} ${end}`;
