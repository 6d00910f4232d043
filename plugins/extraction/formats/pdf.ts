import { getDocumentProxy } from "unpdf";
import { DocumentProblem, isDamaged, isProtected } from "./problem.ts";
import type { DocumentReader } from "./reading.ts";

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;

/** Text of a PDF, page by page. Pages that are pictures have none: a document of such pages needs an OCR engine. */
export const readPdf: DocumentReader = async ({ bytes }, { builder, limits }) => {
  const pdf = await openPdf(bytes);
  try {
    if (pdf.numPages > limits.pages) {
      throw new DocumentProblem(`The PDF has more than ${limits.pages} pages.`);
    }
    const before = builder.length;
    for (let number = 1; number <= pdf.numPages && !builder.isFull; number += 1) {
      builder.begin({ page: number });
      builder.add(await readPage(pdf, number));
    }
    if (builder.length === before) {
      throw new DocumentProblem(
        "No text found in this PDF: its pages are pictures, which need an OCR engine.",
      );
    }
  } finally {
    await pdf.loadingTask.destroy();
  }
};

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

async function readPage(pdf: Pdf, number: number): Promise<string> {
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
  const { items } = await page.getTextContent();
  const text = toLines(items as readonly TextItem[]);
  page.cleanup();
  return text;
}

interface TextItem {
  readonly str?: string;
  readonly hasEOL?: boolean;
  readonly height?: number;
  readonly transform?: readonly number[];
}

/** Lines as they stand on the page; a gap wider than a line and a half begins a new paragraph. */
function toLines(items: readonly TextItem[]): string {
  let text = "";
  let last: { y: number; height: number } | undefined;
  for (const { str = "", hasEOL = false, height = 0, transform } of items) {
    const y = transform?.[5];
    if (str.trim() !== "" && y !== undefined) {
      const gap = last ? last.y - y : 0;
      if (last && text.endsWith("\n") && gap > 1.7 * Math.max(height, last.height, 1)) {
        text += "\n";
      }
      last = { y, height };
    }
    text += hasEOL ? `${str}\n` : str;
  }
  return text
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")
    .trim();
}
