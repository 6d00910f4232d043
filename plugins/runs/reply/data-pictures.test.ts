import { expect, test } from "vitest";
import { findPictures } from "./data-pictures.ts";

const data = (chars: number) => "A".repeat(chars);
const uris = (text: string) => findPictures(text).map(({ at, end }) => text.slice(at, end));

test("pictures are found with their padding, and small ones are left out", () => {
  const big = `data:image/webp;base64,${data(2000)}==`;
  const svg = `data:image/svg+xml;base64,${data(2000)}`;
  expect(uris(`![a](${big}) ![b](data:image/png;base64,AAAA) ${svg}, end`)).toEqual([big, svg]);
  expect(findPictures(big)[0]?.type).toBe("image/webp");
});

test("other data and broken beginnings are no pictures", () => {
  expect(uris(`data:text/html;base64,${data(2000)}`)).toEqual([]);
  expect(uris(`data:image/png;base64,data:image/png;base64,${data(2000)}`)).toHaveLength(1);
  expect(uris("data:image/png;base64,")).toEqual([]);
});

test("a picture of 200 MB is found without overflowing the matcher", () => {
  const text = `![a](data:image/png;base64,${data(200 * 1024 * 1024)}=)`;
  const began = process.cpuUsage();
  expect(findPictures(text)).toMatchObject([{ at: 5, end: text.length - 1 }]);
  expect(process.cpuUsage(began).user / 1_000).toBeLessThan(5000);
});
