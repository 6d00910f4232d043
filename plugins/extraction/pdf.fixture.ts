/**
 * A PDF with one text on each page, written by hand so that tests decide its size: `padding` bytes of a picture that
 * nobody sees are added to it.
 */
export function toPdf(pages: readonly string[], { padding = 0 }: { padding?: number } = {}): Buffer {
  const first = 5;
  const kids = pages.map((_, at) => `${first + at * 2} 0 R`).join(" ");
  const objects: (string | Buffer)[] = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    toStream(Buffer.alloc(padding, 65)),
  ];
  for (const [at, text] of pages.entries()) {
    const resources = "<< /Font << /F1 3 0 R >> >>";
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources ${resources} /Contents ${first + at * 2 + 1} 0 R >>`,
    );
    const written = text.split("\n").map((line) => `(${line.replace(/[\\()]/g, "\\$&")}) Tj T*`);
    objects.push(toStream(Buffer.from(`BT /F1 11 Tf 14 TL 72 780 Td ${written.join(" ")} ET`)));
  }
  return assemble(objects);
}

function toStream(bytes: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`<< /Length ${bytes.length} >>\nstream\n`),
    bytes,
    Buffer.from("\nendstream"),
  ]);
}

function assemble(objects: readonly (string | Buffer)[]): Buffer {
  const pieces: Buffer[] = [Buffer.from("%PDF-1.4\n")];
  const offsets: number[] = [];
  let size = pieces[0]?.length ?? 0;
  const add = (piece: string | Buffer) => {
    const bytes = typeof piece === "string" ? Buffer.from(piece, "latin1") : piece;
    pieces.push(bytes);
    size += bytes.length;
  };
  for (const [at, object] of objects.entries()) {
    offsets.push(size);
    add(`${at + 1} 0 obj\n`);
    add(object);
    add("\nendobj\n");
  }
  const table = size;
  add(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`);
  add(offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join(""));
  add(`trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${table}\n%%EOF\n`);
  return Buffer.concat(pieces);
}
