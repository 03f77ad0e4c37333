// Says in the page that a picture is finished, so that tests and timings need not guess.

/** Count a finished drawing in `data-drawn`; the first of the page is a mark of its performance. */
export function drawn(root: HTMLElement | null): void {
  if (!root) return;
  root.dataset.drawn = String(Number(root.dataset.drawn ?? 0) + 1);
  if (performance.getEntriesByName("headscope:drawn").length === 0) performance.mark("headscope:drawn");
}
