/** A time of the server, nanoseconds that a number holds to a part of a millisecond. */
export function toDate(nanoseconds: number): Date {
  return new Date(nanoseconds / 1e6);
}
