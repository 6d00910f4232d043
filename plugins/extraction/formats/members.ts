import type { Reading } from "./reading.ts";
import { DocumentProblem } from "./problem.ts";

/** A document within a document: a member of an archive, or an attachment. */
export interface Member {
  readonly name: string;
  readonly type?: string;
  read(): Uint8Array;
}

/**
 * Adds the texts of members, each at its own place. One that cannot be read is noted and left out; what breaks the
 * limits of the whole fails the whole.
 */
export async function readMembers(members: readonly Member[], reading: Reading): Promise<void> {
  for (const member of members) {
    if (reading.builder.isFull) {
      return;
    }
    const part = toPartName(member.name);
    try {
      await reading.builder.within({ part }, () =>
        reading.nested({ bytes: member.read(), name: part, type: member.type ?? "" }),
      );
    } catch (error) {
      if (!(error instanceof DocumentProblem) || error.isFatal) {
        throw error;
      }
      reading.skipped.push({ part, reason: error.message });
    }
  }
}

/** A name for display: separated by slashes, without steps upwards, drives and control characters. */
export function toPartName(name: string): string {
  const parts = name
    .replaceAll("\\", "/")
    // oxlint-disable-next-line no-control-regex
    .replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, "")
    .split("/")
    .filter((part) => part !== "" && part !== "." && part !== ".." && !/^[A-Za-z]:$/.test(part));
  return parts.join("/").slice(0, 300) || "member";
}
