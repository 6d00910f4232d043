/** The part of a picture that a square shows. */
export interface Crop {
  /** 1 shows as much as fits; more shows a smaller part larger. */
  readonly zoom: number;
  /** Middle of the part, as shares of width and height. */
  readonly x: number;
  readonly y: number;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Moves the middle so that the square lies within the picture. */
export function clampCrop({ zoom, x, y }: Crop, size: Size): Crop {
  const side = Math.min(size.width, size.height) / zoom;
  const clamp = (share: number, length: number) => {
    const half = side / length / 2;
    return Math.min(1 - half, Math.max(half, share));
  };
  return { zoom, x: clamp(x, size.width), y: clamp(y, size.height) };
}

/** The square in the picture's own pixels. */
export function toSquare(crop: Crop, size: Size): { left: number; top: number; side: number } {
  const { zoom, x, y } = clampCrop(crop, size);
  const side = Math.min(size.width, size.height) / zoom;
  return { left: x * size.width - side / 2, top: y * size.height - side / 2, side };
}

/** Draws the square onto a canvas, on white where the picture is transparent. */
export function drawCrop(canvas: HTMLCanvasElement, image: ImageBitmap, crop: Crop): void {
  const context = canvas.getContext("2d");
  if (context) {
    const { left, top, side } = toSquare(crop, image);
    context.fillStyle = "white";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.imageSmoothingQuality = "high";
    context.drawImage(image, left, top, side, side, 0, 0, canvas.width, canvas.height);
  }
}
