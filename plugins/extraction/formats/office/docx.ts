import { zipSync } from "fflate";
import mammoth from "mammoth";
import { htmlToMarkdown } from "../html.ts";
import { isDamaged } from "../problem.ts";
import { requireModestXml } from "../xml.ts";
import type { TextBuilder } from "../text-builder.ts";
import type { ZipArchive } from "../../zip/zip.ts";

/**
 * A Word document as Markdown, with headings, lists, tables and notes. The library gets a copy of the text parts only,
 * unpacked within the limits: it would unpack whatever it is given.
 */
export async function readDocx(archive: ZipArchive, builder: TextBuilder): Promise<void> {
  const parts = archive.members.filter(({ name }) => /\.(xml|rels)$/i.test(name));
  const copy = Object.fromEntries(parts.map((member) => [member.name, member.read()]));
  for (const [name, bytes] of Object.entries(copy)) {
    // Parts of others, which may be what they like, are not looked into by the library.
    if (/^(word|_rels)\//.test(name)) {
      requireModestXml(bytes);
    }
  }
  const buffer = Buffer.from(zipSync(copy, { level: 0 }));
  let html: string;
  try {
    const styleMap = ["p[style-name='Title'] => h1:fresh", "p[style-name='Subtitle'] => h2:fresh"];
    const options = { styleMap, convertImage: mammoth.images.imgElement(async () => ({ src: "" })) };
    html = (await mammoth.convertToHtml({ buffer }, options)).value;
  } catch (error) {
    throw isDamaged("The document", error);
  }
  builder.add(htmlToMarkdown(html));
}
