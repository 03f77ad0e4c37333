// The matrix: a heat map of one head, to zoom and move in; two measures beside each other, and their difference.
import "./matrix.css";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { isDifference } from "../../data/content";
import { drawn } from "../../drawing/drawn";
import type { Scale } from "../../schema";
import { Choice } from "../../shell/choices";
import { useScreenHeight } from "../../shell/frame";
import { useScores, useWidth } from "../../shell/hooks";
import { SHEET, usePrinting } from "../../shell/printing";
import { useViewed } from "../../shell/viewed";
import { HeadChoice, headShown } from "../HeadChoice";
import type { ViewProps } from "../list";
import { matrixOfTwo } from "./difference";
import { type Cell, Heatmap } from "./Heatmap";
import { layoutOf } from "./layout";
import { type Matrix, matrixOf } from "./panels";
import { Reading } from "./Reading";
import { useZoom } from "./zoom";

const SCALES: [Scale, string][] = [
  ["linear", "by the largest of all"],
  ["row", "by each row's largest"],
  ["log", "by powers of ten"],
];
const NEARER = 1.6; // a press of a button

export function MatrixView({ onHidden }: ViewProps) {
  const { content, state, change, attention } = useViewed();
  const [ref, width] = useWidth<HTMLDivElement>();
  const scores = useScores();
  const head = headShown(state, attention);
  const { measure, compare, level, pairs, least, top, sinks, scale, of } = state;
  const matrix = useMemo(
    () => scores && (isDifference(content, state) ? matrixOfTwo : matrixOf)(content, scores, state, head),
    [content, scores, head, measure, compare, level, pairs, least, top, sinks, scale, of],
  );
  useEffect(() => onHidden(matrix?.hidden ?? null), [matrix, onHidden]);
  const others = content.measures.filter((one) => one.name in attention.scores && one.name !== measure);
  return (
    <div class="matrix-view" ref={ref}>
      <div class="matrix-choices">
        <HeadChoice measures={compare ? [measure, compare] : [measure]} />
        {others.length > 0 && !content.compared && (
          <Choice
            label="compare with"
            value={compare === measure ? "" : compare}
            options={[["", "nothing"], ...others.map((one): [string, string] => [one.name, one.title])]}
            set={(name) => change({ compare: name })}
          />
        )}
        <Choice label="colours" value={scale} options={SCALES} set={(name) => change({ scale: name })} />
      </div>
      {matrix && width > 0 && <Maps matrix={matrix} width={width} />}
    </div>
  );
}

function Maps({ matrix, width }: { matrix: Matrix; width: number }) {
  const { state, change } = useViewed();
  const { rows, columns, panels } = matrix;
  const printing = usePrinting();
  const screen = useScreenHeight();
  const layout = useMemo(
    () => layoutOf(width, printing ? SHEET.height : screen, rows.labels, columns.labels, panels.length, matrix.hidden !== null),
    [width, printing, screen, rows, columns, panels.length, matrix.hidden !== null],
  );
  const zoom = useZoom(layout);
  const [at, setAt] = useState<Cell | null>(null);
  const root = useRef<HTMLDivElement>(null);
  const onDrawn = useCallback(() => drawn(root.current), []);
  useEffect(() => setAt(null), [rows.places.length, columns.places.length]);

  const kept = useMemo(() => keptOf(state.keep, matrix), [state.keep, matrix]);
  const cell = at ?? firstKept(kept);
  const keep = (chosen: Partial<Cell>) => change({ keep: afterKeeping(state.keep, chosen, matrix) });
  const onKey = (event: KeyboardEvent) => {
    const here = cell ?? { row: 0, column: 0 };
    const actions: Record<string, () => void> = {
      Enter: () => keep(here),
      " ": () => keep(here),
      "+": () => zoom.by(NEARER, cell),
      "=": () => zoom.by(NEARER, cell),
      "-": () => zoom.by(1 / NEARER, cell),
      "0": () => zoom.reset(),
    };
    const next = afterArrow(event.key, at, here, matrix);
    if (event.key === "Escape") setAt(null);
    if (!next && !actions[event.key]) return;
    event.preventDefault();
    actions[event.key]?.();
    if (next) {
      setAt(next);
      zoom.reveal(next.row, next.column);
    }
  };
  if (!rows.places.length || !columns.places.length) {
    return <p class="view-empty">No token is left to show: show sinks, or choose other pairs of texts.</p>;
  }
  return (
    <>
      <div class="matrix-above">
        <Reading matrix={matrix} cell={cell} />
        <span class="matrix-zoom" role="group" aria-label="Zoom">
          <button type="button" class="quiet" name="zoom-in" title="Nearer" aria-label="Nearer" onClick={() => zoom.by(NEARER, cell)}>
            +
          </button>
          <button type="button" class="quiet" name="zoom-out" title="Further" aria-label="Further" onClick={() => zoom.by(1 / NEARER, cell)}>
            −
          </button>
          <button type="button" class="quiet" name="zoom-reset" title="All of it" onClick={zoom.reset}>
            reset
          </button>
        </span>
      </div>
      <div class="matrix-maps" ref={root} data-zoom={zoom.transform.k} data-stacked={layout.stacked}>
        {panels.map((panel, place) => (
          <Heatmap
            key={panel.name}
            matrix={matrix}
            panel={panel}
            layout={layout}
            zoom={zoom}
            rowLabels={place === 0 || layout.stacked}
            at={cell}
            kept={kept}
            onPoint={setAt}
            onKeep={keep}
            onKey={onKey}
            onDrawn={onDrawn}
          />
        ))}
      </div>
    </>
  );
}

interface Kept {
  rows: Set<number>;
  columns: Set<number>;
}

function keptOf(keep: string[], { rows, columns }: Matrix): Kept {
  const places = (letter: string, shown: number[]) =>
    new Set(
      keep.filter((token) => token[0] === letter).map((token) => shown.indexOf(Number(token.slice(1)))).filter((place) => place >= 0),
    );
  return { rows: places("q", rows.places), columns: places("k", columns.places) };
}

/** The cell of the kept row and column, where both are. */
function firstKept({ rows, columns }: Kept): Cell | null {
  const [row] = rows;
  const [column] = columns;
  return row === undefined || column === undefined ? null : { row, column };
}

/** A cell keeps its row and its column and lets others go; a label keeps one more, or lets it go. */
function afterKeeping(keep: string[], { row, column }: Partial<Cell>, { rows, columns }: Matrix): string[] {
  const names = [
    ...(row === undefined ? [] : [`q${rows.places[row]}`]),
    ...(column === undefined ? [] : [`k${columns.places[column]}`]),
  ];
  const same = names.every((name) => keep.includes(name));
  if (names.length === 2) return same && keep.length === 2 ? [] : names;
  return same ? keep.filter((name) => name !== names[0]) : [...keep, names[0]];
}

function afterArrow(key: string, at: Cell | null, here: Cell, { rows, columns }: Matrix): Cell | null {
  const moves: Record<string, [number, number]> = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
    PageUp: [-10, 0],
    PageDown: [10, 0],
    Home: [0, -columns.places.length],
    End: [0, columns.places.length],
  };
  const move = moves[key];
  if (!move) return null;
  if (!at) return here; // the first key shows where the crosshair is
  const within = (place: number, count: number) => Math.min(count - 1, Math.max(0, place));
  return { row: within(at.row + move[0], rows.places.length), column: within(at.column + move[1], columns.places.length) };
}
