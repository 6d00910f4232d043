/** Puts a text into the clipboard; rejects when the browser does not allow it. */
export async function copyText(text: string): Promise<void> {
  // Pages that came over plain HTTP have no clipboard of their own.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard) {
    await clipboard.writeText(text);
  } else if (!copyByEvent(text)) {
    throw new Error("The browser does not allow copying.");
  }
}

function copyByEvent(text: string): boolean {
  let isTaken = false;
  const fill = (event: ClipboardEvent) => {
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
    event.stopImmediatePropagation();
    isTaken = true;
  };
  addEventListener("copy", fill, { capture: true });
  try {
    return document.execCommand("copy") && isTaken;
  } finally {
    removeEventListener("copy", fill, { capture: true });
  }
}
