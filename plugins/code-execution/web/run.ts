/** What a run shows while it goes on. */
export interface RunProgress {
  /** What is waited for; undefined while the code itself runs. */
  readonly phase: "loading" | "packages" | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** A file that code wrote or a picture that it showed. */
export interface RunFile {
  readonly name: string;
  readonly contentType: string;
  /** A data or blob address. */
  readonly url: string;
  /** Left out for files that came from the server. */
  readonly bytes?: Uint8Array;
}

/** How a run ended. */
export interface RunEnd {
  readonly status: "success" | "error" | "timeout" | "stopped";
  readonly stdout: string;
  readonly stderr: string;
  readonly result: string;
  readonly html: readonly string[];
  readonly files: readonly RunFile[];
  /** The package that is not offered here. */
  readonly missing?: string | undefined;
}

/** What runs and how. */
export interface RunRequest {
  readonly code: string;
  /** Code of one chat shares its variables. */
  readonly chatId: string | undefined;
  readonly files?: readonly { readonly name: string; readonly bytes: Uint8Array }[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  onprogress(progress: RunProgress): void;
}
