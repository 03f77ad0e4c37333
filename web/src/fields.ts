// Choices as the fragment of an address: how each is read and written, and what it is where nothing is said.

export interface Field<T> {
  usual: T;
  read: (text: string) => T | undefined; // undefined: this is no such choice
  write: (value: T) => string;
}

export type Fields<S> = { [Name in keyof S]: Field<S[Name]> };

export function text(usual = ""): Field<string> {
  return { usual, read: (given) => given, write: encodeURIComponent };
}

export function oneOf<T extends string>(choices: readonly T[], usual: T): Field<T> {
  return { usual, read: (given) => choices.find((choice) => choice === given), write: encodeURIComponent };
}

export function flag(usual: boolean): Field<boolean> {
  return { usual, read: (given) => (given === "1" ? true : given === "0" ? false : undefined), write: (value) => (value ? "1" : "0") };
}

/** A number of at least `least`; without one, where `usual` is null. */
export function number<T extends number | null>(usual: T, least = 0): Field<T | number> {
  const read = (given: string) => (given.trim() !== "" && Number.isFinite(Number(given)) && Number(given) >= least ? Number(given) : undefined);
  return { usual, read, write: (value) => String(value ?? "") };
}

/** Several, with commas between them; those that `item` does not know are left out. */
export function list<T extends string | number, U extends T[] | null>(usual: U, item: (text: string) => T | undefined): Field<U | T[]> {
  const read = (given: string) => (given === "" ? [] : given.split(",").flatMap((one) => item(one) ?? []));
  return { usual, read, write: (value) => (value ?? []).join(",") };
}

export function parse<S extends object>(fields: Fields<S>, fragment: string): S {
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  const state = {} as S;
  for (const name of namesOf(fields)) {
    const said = given.getAll(String(name)).at(-1); // who writes a choice behind an address means that one
    state[name] = (said === undefined ? undefined : fields[name].read(said)) ?? fields[name].usual;
  }
  return state;
}

/** The choices that are not the usual ones. */
export function format<S extends object>(fields: Fields<S>, state: S): string {
  const changed = namesOf(fields).filter((name) => !isSame(state[name], fields[name].usual));
  return changed.map((name) => `${String(name)}=${fields[name].write(state[name])}`).join("&");
}

export function namesOf<S extends object>(fields: Fields<S>): (keyof S)[] {
  return Object.keys(fields) as (keyof S)[];
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || (Array.isArray(one) && Array.isArray(other) && String(one) === String(other));
}
