// Kept tokens in sight, when a page or a text is opened with them.

const WHILE = 1000; // milliseconds in which what stands above may still grow: answers and numbers come one after another
const INPUTS = ["wheel", "pointerdown", "keydown"] as const; // a reader who does something looks where they want

/** Scroll so that kept tokens are seen, and stay so while the page comes to rest; returns how to end that. */
export function bringIntoSight(scroller: HTMLElement, keep: string[]): () => void {
  scrollTo(scroller, keep);
  const observer = new ResizeObserver(() => scrollTo(scroller, keep));
  const end = () => {
    observer.disconnect();
    clearTimeout(rest);
    for (const input of INPUTS) window.removeEventListener(input, end);
  };
  const rest = setTimeout(end, WHILE);
  for (const input of INPUTS) window.addEventListener(input, end, { passive: true });
  observer.observe(document.body);
  return end;
}

/** All kept tokens; where they are too far apart, the first, which attends: the others stay at the edge. */
function scrollTo(scroller: HTMLElement, keep: string[]): void {
  const places = keep.flatMap((name) => placeOf(scroller, name) ?? []);
  if (places.length === 0) return;
  const height = scroller.querySelector<HTMLElement>("[data-token]")?.offsetHeight ?? 0;
  const tops = places.map((place) => place * height);
  const [top, bottom] = [Math.min(...tops), Math.max(...tops) + height];
  const [from, to] = bottom - top <= scroller.clientHeight ? [top, bottom] : [tops[0], tops[0] + height];
  scroller.scrollTop = (from + to - scroller.clientHeight) / 2;
  if (!document.querySelector("[data-first]")) scroller.scrollIntoView({ block: "nearest" }); // else what comes first is looked at first
}

/** Where a token stands in its list: not where it is drawn, which for a kept one may be the edge. */
function placeOf(scroller: HTMLElement, name: string): number | null {
  const token = scroller.querySelector<HTMLElement>(`[data-token="${name}"]`);
  return token ? Number(token.dataset.place) : null;
}
