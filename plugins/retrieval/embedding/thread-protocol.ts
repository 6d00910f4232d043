/** A call to the thread. */
export type ThreadCall =
  | {
      readonly op: "embed";
      readonly model: ThreadModel;
      readonly texts: readonly string[];
      readonly urgent: boolean;
    }
  | { readonly op: "detect"; readonly text: string; readonly urgent: boolean };

/** The built-in model, or a folder with an ONNX model. */
export type ThreadModel = { readonly kind: "built-in" } | { readonly kind: "onnx"; readonly folder: string };

export type ThreadRequest = ThreadCall & { readonly id: number };

export type ThreadReply =
  | { readonly id: number; readonly vectors: readonly Float32Array[] }
  | { readonly id: number; readonly language: string }
  /** `isForPeople` says that the message may be shown. */
  | { readonly id: number; readonly error: string; readonly isForPeople: boolean };
