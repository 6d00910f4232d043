import { expect, test } from "vitest";
import { clampCrop, toSquare } from "./crop.ts";

const wide = { width: 400, height: 200 };

test("shows the middle square of a picture that is not square", () => {
  expect(toSquare({ zoom: 1, x: 0.5, y: 0.5 }, wide)).toEqual({ left: 100, top: 0, side: 200 });
});

test("keeps the square within the picture", () => {
  expect(clampCrop({ zoom: 1, x: -3, y: 9 }, wide)).toEqual({ zoom: 1, x: 0.25, y: 0.5 });
  expect(toSquare({ zoom: 2, x: 1, y: 1 }, wide)).toEqual({ left: 300, top: 100, side: 100 });
});
