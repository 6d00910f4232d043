/** A document of a message, to be shown in a frame of its own; `html` or `svg` is what the frame shows. */
export type PreviewedDocument = {
  readonly title: string;
  /** The text as it stands in the message. */
  readonly source: string;
  /** The language of the fence that held it, such as `html`. */
  readonly language: string;
} & (
  | { readonly html: string; readonly svg?: undefined }
  | { readonly svg: string; readonly html?: undefined }
);

/** What the preview panel of the page shows. Blocks of code open it; the page that has a panel shows it. */
class PreviewStore {
  current = $state.raw<PreviewedDocument>();
  /** Pages with a panel say so; blocks of code offer a preview only there. */
  isAvailable = $state(false);

  open(document: PreviewedDocument): void {
    this.current = document;
  }

  close(): void {
    this.current = undefined;
  }
}

export const preview = new PreviewStore();
