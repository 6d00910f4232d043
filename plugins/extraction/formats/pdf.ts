import { getDocumentProxy } from "unpdf";
import { type BufferLimit, limitBuffers } from "./limit-buffers.ts";
import { DocumentProblem, isDamaged, isProtected } from "./problem.ts";
import type { DocumentReader, Reading } from "./reading.ts";

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;

/** Text of a PDF, page by page. Pages that are pictures have none: a document of such pages needs an OCR engine. */
export const readPdf: DocumentReader = async ({ bytes }, reading) => {
  // A buffer that grows takes twice its bytes over time.
  const buffers = limitBuffers(2 * reading.budget.bytes);
  try {
    await readWithin(buffers, bytes, reading);
  } finally {
    buffers.restore();
  }
};

async function readWithin(
  buffers: BufferLimit,
  bytes: Uint8Array,
  { builder, limits }: Reading,
): Promise<void> {
  const pdf = await openPdf(bytes).catch((error: unknown) => {
    refuseInflated(buffers);
    throw error;
  });
  try {
    if (pdf.numPages > limits.pages) {
      throw new DocumentProblem(`The PDF has more than ${limits.pages} pages.`);
    }
    const before = builder.length;
    for (let number = 1; number <= pdf.numPages && !builder.isFull; number += 1) {
      builder.begin({ page: number });
      const text = await readPage(pdf, number, limits.characters).finally(() => refuseInflated(buffers));
      builder.add(text);
    }
    if (builder.length === before) {
      throw new DocumentProblem(
        "No text found in this PDF: its pages are pictures, which need an OCR engine.",
      );
    }
  } finally {
    await pdf.loadingTask.destroy();
  }
}

/** A library that is refused a buffer tells of a damaged page, or leaves out text. */
function refuseInflated({ isExceeded }: BufferLimit): void {
  if (isExceeded) {
    throw new DocumentProblem("The PDF unpacks to far more than is read from one file.");
  }
}

async function openPdf(bytes: Uint8Array): Promise<Pdf> {
  try {
    // The library takes the bytes for itself, and a member of an archive shares its buffer with others.
    return await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0, stopAtErrors: false });
  } catch (error) {
    if (error instanceof Error && error.name === "PasswordException") {
      throw isProtected("The PDF");
    }
    throw isDamaged("The PDF", error);
  }
}

async function readPage(pdf: Pdf, number: number, characters: number): Promise<string> {
  let page;
  try {
    page = await pdf.getPage(number);
  } catch (error) {
    // A page that is damaged costs its own text; a document that states pages it has not is damaged as a whole.
    if (number === 1) {
      throw isDamaged("The PDF", error);
    }
    return "";
  }
  // Piece by piece: the items of a page of many words take a hundred times the bytes of its text.
  const pieces = page.streamTextContent() as ReadableStream<{ readonly items: readonly TextItem[] }>;
  const lines = new Lines();
  for await (const { items } of pieces) {
    lines.add(items);
    if (lines.text.length > characters) {
      break;
    }
  }
  page.cleanup();
  return lines.finish();
}

interface TextItem {
  readonly str?: string;
  readonly hasEOL?: boolean;
  readonly height?: number;
  readonly transform?: readonly number[];
}

/** Lines as they stand on the page; a gap wider than a line and a half begins a new paragraph. */
class Lines {
  text = "";
  #last: { readonly y: number; readonly height: number } | undefined;

  add(items: readonly TextItem[]): void {
    for (const { str = "", hasEOL = false, height = 0, transform } of items) {
      const y = transform?.[5];
      if (str.trim() !== "" && y !== undefined) {
        const last = this.#last;
        if (last && this.text.endsWith("\n") && last.y - y > 1.7 * Math.max(height, last.height, 1)) {
          this.text += "\n";
        }
        this.#last = { y, height };
      }
      this.text += hasEOL ? `${str}\n` : str;
    }
  }

  finish(): string {
    return this.text
      .split("\n")
      .map((line) => line.trimEnd())
      .join("\n")
      .trim();
  }
}
