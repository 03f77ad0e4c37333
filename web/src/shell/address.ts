// A state that is kept in the address: a link to it opens the same page, and the browser's Back takes back the last step.
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Change, format, ONE_BY_ONE, PASSING, parse, type State } from "../state";

/** How a page's state is written, and which of its fields are steps; it must not change. */
export interface Address<S> {
  read: (fragment: string) => S;
  write: (state: S) => string;
  passing: readonly (keyof S)[]; // what is moved, typed or marked on the way: Back does not stop at it
  oneByOne: readonly (keyof S)[]; // gone through one after another: quickly, that is one step
}

const RUN = 1000; // milliseconds between two steps of a run

export function useFragment<S extends object>(address: Address<S>): [S, (changes: Partial<S>) => void] {
  const [state, setState] = useState<S>(() => address.read(location.hash));
  const current = useRef(state);
  const last = useRef<Step>({ fields: [], at: -Infinity });
  useEffect(() => {
    const { read, write } = address;
    keep(write(current.current), false); // a page may open with choices of its own
    const listen = () => {
      current.current = read(location.hash);
      last.current = { fields: [], at: -Infinity };
      setState(current.current);
    };
    window.addEventListener("popstate", listen);
    return () => window.removeEventListener("popstate", listen);
  }, [address]);
  const change = useCallback(
    (changes: Partial<S>) => {
      const before = current.current;
      const after = { ...before, ...changes };
      current.current = after;
      const step = { fields: stepped(before, after, address.passing), at: performance.now() };
      const isRun = goesOn(step, last.current, address.oneByOne);
      if (step.fields.length > 0) last.current = step;
      // At once: later, Back might already have gone to another entry.
      if (address.write(after) !== address.write(before)) keep(address.write(after), step.fields.length > 0 && !isRun);
      setState(after);
    },
    [address],
  );
  return [state, change];
}

interface Step {
  fields: PropertyKey[];
  at: number;
}

/** The fields in which two states differ, but for those that are no step. */
export function stepped<S extends object>(before: S, after: S, passing: readonly (keyof S)[]): (keyof S)[] {
  const names = Object.keys(after) as (keyof S)[];
  return names.filter((name) => !passing.includes(name) && JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}

/** Whether a step goes on with the one before: the next layer, soon after the last. */
export function goesOn(step: Step, last: Step, oneByOne: readonly PropertyKey[]): boolean {
  const same = step.fields.length > 0 && step.fields.every((name) => oneByOne.includes(name) && last.fields.includes(name));
  return same && step.at - last.at < RUN;
}

function keep(fragment: string, isStep: boolean): void {
  const address = fragment ? `#${fragment}` : `${location.pathname}${location.search}`;
  if (location.hash === (fragment && `#${fragment}`)) return;
  try {
    if (isStep) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
  } catch {
    // In a notebook's frame the address cannot change, and some browsers take only so many changes in a minute; the next
    // one takes its place, and the link that is copied has the state all the same.
  }
}

/** The choices of the views; `initial` is what a page opens with that is not given any. */
export function useAddress(initial: string): [State, Change] {
  const address = useMemo<Address<State>>(
    () => ({
      read: (fragment) => parse(fragment.length > 1 ? fragment : initial),
      write: (state) => format(state) || (initial && `view=${state.view}`), // without a word, it would be the initial one
      passing: PASSING,
      oneByOne: ONE_BY_ONE,
    }),
    [initial],
  );
  return useFragment(address);
}
