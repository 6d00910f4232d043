import type { Awareness } from "y-protocols/awareness";

/** Somebody who has the note open. */
export interface Person {
  readonly id: string;
  readonly name: string;
}

/** Those whom a note is open to in other windows, each once. */
export function othersIn(awareness: Awareness): readonly Person[] {
  const others = [...awareness.getStates()].flatMap(([client, state]) => {
    const user = state["user"] as Person | undefined;
    return client !== awareness.clientID && user?.id ? [{ id: user.id, name: user.name }] : [];
  });
  return [...new Map(others.map((person) => [person.id, person])).values()];
}
