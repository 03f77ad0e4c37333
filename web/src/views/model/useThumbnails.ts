// Draws all heads, a layer at a time, and lets the page breathe in between.
import { useEffect, useRef, useState } from "preact/hooks";
import { isDifference } from "../../data/content";
import { shownOf } from "../../data/maps";
import { Scores } from "../../data/scores";
import { hiddenOf, type Shown } from "../../data/shown";
import { usePrinting } from "../../shell/printing";
import { useViewed } from "../../shell/viewed";
import { axesOf } from "../head/maps";
import type { Cell, Grid } from "./cells";
import { drawThumbnail } from "./thumbnail";

/** What is said of a head that was drawn: its strongest pair. */
export interface Strongest {
  score: number;
  from: string;
  to: string;
}

/** The small pictures, by the cells' keys. They are no part of the page: a thousand canvases in it would be slow. */
export type Thumbnails = Map<string, HTMLCanvasElement>;

interface Drawn {
  thumbnails: Thumbnails;
  strongest: Map<string, Strongest | null>; // by the cells' keys
  hidden: number | null; // the share of all heads' scores on sinks that are not shown; null while it is being drawn
  hiddenOfHeads: Map<string, number>; // the same for each cell
  negative: boolean; // whether any score is below zero
}

const BREATH = 60; // milliseconds of drawing without a pause

/** The pictures of all cells, made anew when a choice, the theme or the size changes; `show` is told which are ready. */
export function useThumbnails(grid: Grid, size: number, show: (keys: string[]) => void, onDrawn: () => void): Drawn {
  const { content, chunks, state, dark } = useViewed();
  const thumbnails = useRef<Thumbnails>(new Map()).current;
  const [drawn, setDrawn] = useState<Omit<Drawn, "thumbnails">>({ strongest: new Map(), hidden: null, hiddenOfHeads: new Map(), negative: false });
  const { measure, level, pairs, sinks, least, top, small, of } = state;
  const printing = usePrinting(); // then nobody waits for a page that breathes
  useEffect(() => {
    if (size <= 0) return undefined;
    let wanted = true;
    const difference = isDifference(content, state);
    const signed = difference || content.measures.some((one) => one.name === measure && one.signed);
    const draw = async () => {
      const strongest = new Map<string, Strongest | null>();
      let ready: string[] = [];
      const rows: Pick<Shown, "totals" | "onSinks">[] = [];
      const hiddenOfHeads = new Map<string, number>();
      let negative = false;
      let since = performance.now();
      for (const cells of byAttention(grid.cells)) {
        const { attention } = cells[0];
        const axes = axesOf(content, attention, state);
        const keys = content.sides[attention.key].tokens.length;
        const scores = await Scores.load(attention, chunks, content.sides[attention.query].tokens.length, keys);
        for (const cell of cells) {
          if (!wanted) return;
          const found = shownOf(scores, measure, cell.place, axes.rows, axes.columns, state);
          rows.push({ totals: found.totals, onSinks: found.onSinks }); // not the map itself, which is large
          hiddenOfHeads.set(cell.key, hiddenOf([found]));
          strongest.set(cell.key, strongestOf(found));
          if (signed) negative ||= found.scores.some((score) => score < 0);
          const canvas = thumbnails.get(cell.key) ?? document.createElement("canvas");
          drawThumbnail(canvas, found, size, dark, small, difference);
          thumbnails.set(cell.key, canvas);
          ready.push(cell.key);
          if (!printing && performance.now() - since > BREATH) {
            show(ready);
            ready = [];
            await pause();
            since = performance.now();
          }
        }
      }
      if (!wanted) return;
      show(ready);
      setDrawn({ strongest, hidden: hiddenOf(rows), hiddenOfHeads, negative });
      onDrawn();
    };
    void draw();
    return () => {
      wanted = false;
    };
  }, [content, chunks, measure, level, pairs, sinks, least, top, small, of, grid, size, dark, printing]);
  return { ...drawn, thumbnails };
}

function byAttention(cells: Cell[]): Cell[][] {
  const found = new Map<Cell["attention"], Cell[]>();
  for (const cell of cells) found.set(cell.attention, [...(found.get(cell.attention) ?? []), cell]);
  return [...found.values()];
}

function strongestOf({ scores, rows, columns }: Shown): Strongest | null {
  let best = 0;
  for (let i = 1; i < scores.length; i++) if (Math.abs(scores[i]) > Math.abs(scores[best])) best = i;
  if (!scores[best]) return null;
  const width = columns.labels.length;
  return { score: scores[best], from: rows.labels[Math.floor(best / width)], to: columns.labels[best % width] };
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
