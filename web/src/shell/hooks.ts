// What several parts of the page share: the state in the address, the theme, scores that are being unpacked, sizes.
import type { RefObject } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Scores } from "../data/scores";
import { type Change, format, parse, type State } from "../state";
import { SHEET, usePrinting } from "./printing";
import { useViewed } from "./viewed";

/** A state that is kept in the address: a link to it opens the same picture. `read` and `write` must not change. */
export function useFragment<S>(read: (fragment: string) => S, write: (state: S) => string): [S, (changes: Partial<S>) => void] {
  const [state, setState] = useState<S>(() => read(location.hash));
  useEffect(() => {
    const listen = () => setState(read(location.hash));
    window.addEventListener("hashchange", listen);
    return () => window.removeEventListener("hashchange", listen);
  }, [read]);
  const change = useCallback((changes: Partial<S>) => setState((before) => ({ ...before, ...changes })), []);
  useEffect(() => {
    try {
      history.replaceState(null, "", `#${write(state)}`);
    } catch {
      // In a notebook's frame the address cannot change; the link that is copied has the state all the same.
    }
  }, [state, write]);
  return [state, change];
}

/** The choices of the views; `initial` is what a page opens with that is not given any. */
export function useAddress(initial: string): [State, Change] {
  const read = useCallback((fragment: string) => parse(fragment.length > 1 ? fragment : initial), [initial]);
  return useFragment(read, format);
}

/** Whether the page is dark: as chosen, else as the system is set; never on paper. */
export function useDark(theme: string): boolean {
  const query = useMemo(() => window.matchMedia("(prefers-color-scheme: dark)"), []);
  const [system, setSystem] = useState(query.matches);
  useEffect(() => {
    const listen = () => setSystem(query.matches);
    query.addEventListener("change", listen);
    return () => query.removeEventListener("change", listen);
  }, [query]);
  const printing = usePrinting();
  const dark = !printing && (theme === "dark" || (theme !== "light" && system));
  useEffect(() => {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
  }, [dark]);
  return dark;
}

/** The scores of the chosen attention, null until they are unpacked. */
export function useScores(): Scores | null {
  const { content, chunks, attention } = useViewed();
  const [loaded, setLoaded] = useState<Scores | null>(null);
  useEffect(() => {
    let wanted = true;
    const { query, key } = attention;
    void Scores.load(attention, chunks, content.sides[query].tokens.length, content.sides[key].tokens.length).then((scores) => {
      if (wanted) setLoaded(scores);
    });
    return () => {
      wanted = false;
    };
  }, [content, chunks, attention]);
  return loaded?.attention === attention ? loaded : null;
}

/** The width of an element, as it changes; on paper no more than a sheet has. */
export function useWidth<T extends HTMLElement>(): [RefObject<T | null>, number] {
  const ref = useRef<T>(null);
  const printing = usePrinting();
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    setWidth(element.clientWidth);
    return () => observer.disconnect();
  }, []);
  return [ref, printing ? Math.min(width, SHEET.width) : width];
}
