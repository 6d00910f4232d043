/** Without what the server cannot store: pasted texts may hold a NUL, and half of a character that was cut. */
export const toStorable = (text: string): string => text.toWellFormed().replaceAll("\u0000", "");
