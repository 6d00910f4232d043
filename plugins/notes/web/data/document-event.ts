/** What the server sends of the document of a note. */
export interface DocumentEvent {
  readonly document_id: string;
  readonly state?: readonly number[];
  readonly update?: readonly number[];
  readonly client_id?: number | null;
}

export const toBytes = (numbers: readonly number[] | undefined): Uint8Array => new Uint8Array(numbers ?? []);
