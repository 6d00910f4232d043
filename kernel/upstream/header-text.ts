/** The text as a header value: line breaks and other control characters go, what is not ASCII is percent-encoded. */
export function toHeaderText(text: string): string {
  if (/^[!-~]*$/.test(text)) {
    return text;
  }
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about.
  const line = text.replaceAll(/[\u0000-\u001f\u007f]+/g, " ").trim();
  return line.replaceAll(/[^\u0020-\u007e]+/gu, (run) => encodeURIComponent(run.toWellFormed()));
}
