/** A file that is put into the working folder. */
export interface GivenBytes {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** To the frame of Python. */
export type ToPython =
  | { readonly type: "load"; readonly base: string; readonly memory: number }
  | {
      readonly type: "run";
      readonly id: number;
      readonly code: string;
      readonly files: readonly GivenBytes[];
    };

/** What a run showed besides text. */
export interface Shown {
  readonly html: readonly string[];
  readonly files: readonly (GivenBytes & { readonly contentType: string })[];
}

/** How a run ended. */
export interface Ended extends Shown {
  readonly type: "done";
  readonly id: number;
  readonly status: "success" | "error";
  readonly result: string;
  /** The package that an import did not find. */
  readonly missing: string | null;
  /** Why packages could not be loaded. */
  readonly problems: readonly string[];
}

/** From the frame of Python. */
export type FromPython =
  | { readonly type: "frame" | "worker" | "ready" }
  | { readonly type: "broken"; readonly message: string }
  | { readonly type: "packages"; readonly text: string }
  | { readonly type: "started"; readonly id: number }
  | { readonly type: "output"; readonly name: "stdout" | "stderr"; readonly text: string }
  | Ended;
