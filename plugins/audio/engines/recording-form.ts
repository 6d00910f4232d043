import type { Recording } from "../service.ts";

/** A multipart form with a recording; fields without a value are left out. */
export function toForm(
  field: string,
  { bytes, contentType, filename }: Recording,
  fields: Readonly<Record<string, string | undefined>>,
): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) {
      form.append(name, value);
    }
  }
  form.append(field, new Blob([bytes], { type: contentType }), filename);
  return form;
}
