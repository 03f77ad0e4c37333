// What several parts of the page share: the theme, scores that are being unpacked, sizes.
import type { RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Scores } from "../data/scores";
import { SHEET, usePrinting } from "./printing";
import { useViewed } from "./viewed";

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
  // Here, and not in an effect: those of the views come before it, and draw with the theme's colours.
  document.documentElement.dataset.theme = dark ? "dark" : "light";
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
