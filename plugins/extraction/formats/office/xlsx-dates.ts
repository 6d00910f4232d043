import { readXml } from "../xml.ts";

/** Which styles of cells show a date. */
export interface CellFormats {
  isDate(style: number): boolean;
  /** True where days are counted from 1904 instead of 1900. */
  readonly isFrom1904: boolean;
}

/** Formats of dates and times that need no code in the file (ECMA-376, 18.8.30). */
const isBuiltInDate = (id: number) =>
  (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47) || (id >= 50 && id <= 58);

export function readFormats(styles: Uint8Array, isFrom1904: boolean): CellFormats {
  const dates = new Set<number>();
  const byStyle: number[] = [];
  let isInCells = false;
  readXml(styles, {
    open(name, attributes) {
      if (name === "numFmt" && isDateCode(attributes.formatCode ?? "")) {
        dates.add(Number(attributes.numFmtId));
      } else if (name === "cellXfs") {
        isInCells = true;
      } else if (name === "xf" && isInCells) {
        byStyle.push(Number(attributes.numFmtId ?? 0));
      }
    },
    close(name) {
      isInCells &&= name !== "cellXfs";
    },
  });
  return {
    isDate: (style) => {
      const id = byStyle[style];
      return id !== undefined && (isBuiltInDate(id) || dates.has(id));
    },
    isFrom1904,
  };
}

/** Letters of dates outside quoted text, escaped signs and colours make a format one of dates. */
function isDateCode(code: string): boolean {
  const bare = code
    .replace(/"[^"]*"/g, "")
    .replace(/\\./g, "")
    .replace(/\[(?!h{1,2}\]|m{1,2}\]|s{1,2}\])[^[\]]{0,60}\]/gi, "");
  return /[ymdhs]/i.test(bare) && !/general/i.test(bare);
}

const dayMs = 86_400_000;

/** A serial number of days as ISO text: date, time, or both; undefined for what is none. */
export function toDateText(serial: number, isFrom1904: boolean): string | undefined {
  if (!Number.isFinite(serial) || serial < 0 || serial > 2_958_466) {
    return undefined;
  }
  // 1900 counts a 29 February that never was, so that days from March 1900 on are one too many.
  const first = isFrom1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, serial < 60 ? 31 : 30);
  const at = new Date(first + Math.round((serial * dayMs) / 1000) * 1000).toISOString();
  const day = at.slice(0, 10);
  const time = at.slice(11, at.endsWith(":00.000Z") ? 16 : 19);
  if (serial < 1) {
    return time;
  }
  return Number.isInteger(serial) ? day : `${day} ${time}`;
}
