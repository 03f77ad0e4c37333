// The grid of heads: a small picture each, numbers at the margins; one stop of the Tab key, arrows inside.
import { useMemo, useRef } from "preact/hooks";
import { headName } from "../../data/content";
import { number } from "../../drawing/canvas";
import { useOutClick, useWithout } from "../../shell/without";
import { byLayer, type Cell, type Grid, placeOfLayer, type Spot } from "./cells";
import { GAP, headerHeight, MARGIN, rowHeight } from "./layout";

interface Props {
  grid: Grid;
  spots: Map<string, Spot>; // cells that have none are filtered out
  flowing: boolean; // one after another, each with its label, instead of layers down and heads across
  blocks: number; // of layers, beside each other
  size: number;
  canvas: { current: HTMLCanvasElement | null }; // one for all: it lies under the buttons
  chosen: string | null; // the key of the cell that is enlarged
  stop: string; // the key of the cell that Tab goes to
  setStop: (key: string) => void;
  point: (key: string | null) => void;
  choose: (cell: Cell) => void;
}

// Down and across.
const STEPS: Record<string, [number, number]> = {
  ArrowRight: [0, 1],
  ArrowLeft: [0, -1],
  ArrowDown: [1, 0],
  ArrowUp: [-1, 0],
};

export function SmallMultiples({ grid, spots, flowing, blocks, size, canvas, chosen, stop, setStop, point, choose }: Props) {
  const list = useRef<HTMLDivElement>(null);
  const out = useWithout()?.out;
  const outClick = useOutClick();
  const offset = flowing ? 1 : 2; // lines of the grid count from 1, and the first are for the numbers
  const across = flowing ? 1 + Math.max(0, ...[...spots.values()].map((spot) => spot.column)) : grid.heads.length;
  const columns = `${flowing ? "" : `${MARGIN}px `}repeat(${Math.max(1, across)}, ${size + 2}px)`;
  const pressed = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    const key = keyAt(event);
    if (!step || key === null) return;
    event.preventDefault();
    const next = neighbour(flowing ? spots : byLayer(grid), key, step); // the next layer is below, also in another block
    if (next === null) return;
    setStop(next);
    list.current?.querySelector<HTMLElement>(`[data-cell="${next}"]`)?.focus();
  };
  // Pointing at a head changes none of its neighbours: a thousand buttons need not be compared for it.
  const buttons = useMemo(
    () =>
      grid.cells.map((cell) => {
        const spot = spots.get(cell.key);
        const name = cell.head === null ? "" : headName(cell.attention, cell.head);
        const isOut = out?.has(name) ?? false;
        const label = cell.head === null ? `layer ${cell.attention.layer}` : cell.key;
        return (
          <button
            key={cell.key}
            type="button"
            class={isOut ? "model-cell out" : "model-cell"}
            data-cell={cell.key}
            hidden={!spot}
            aria-label={cell.head === null ? `layer ${cell.key}, all heads together` : `head ${cell.key}${isOut ? ", taken out" : ""}`}
            aria-pressed={chosen === cell.key}
            tabIndex={stop === cell.key ? 0 : -1}
            style={{ gridRow: (spot?.row ?? 0) + offset, gridColumn: (spot?.column ?? 0) + (spot?.block ?? 0) + offset, width: `${size + 2}px` }}
            onClick={(event) => (name && outClick(event, name)) || choose(cell)}
          >
            <span class="model-room" style={{ height: `${size}px` }} />
            {flowing && (
              <span class="model-caption">
                <b>{label}</b>
                {spot?.value != null && ` ${short(spot.value)}`}
              </span>
            )}
          </button>
        );
      }),
    [grid, spots, flowing, size, chosen, stop, choose, out],
  );
  return (
    <div
      class={flowing ? "model-cells flowing" : "model-cells"}
      ref={list}
      role="group"
      aria-label="Heads"
      style={{
        gridTemplateColumns: Array.from({ length: blocks }, () => columns).join(" "),
        gridTemplateRows: flowing ? "" : `${headerHeight}px`,
        gridAutoRows: `${rowHeight(size, flowing)}px`,
        gap: `${GAP}px`,
      }}
      onKeyDown={pressed}
      onPointerOver={(event) => event.pointerType !== "touch" && point(keyAt(event))}
      onPointerLeave={() => point(null)}
      onFocusIn={(event) => {
        const key = keyAt(event);
        if (key !== null) setStop(key);
        if ((event.target as HTMLElement).matches(":focus-visible")) point(key);
      }}
      onFocusOut={() => point(null)}
    >
      <canvas class="model-picture" ref={canvas} aria-hidden="true" />
      {!flowing &&
        Array.from({ length: blocks }, (_, block) =>
          grid.heads.map((head, column) => (
            <span key={`head ${head} ${block}`} class="model-number" style={{ gridRow: 1, gridColumn: block * (across + 1) + column + 2 }}>
              {head}
            </span>
          )),
        )}
      {!flowing &&
        grid.layers.map((layer, place) => {
          const { row, block } = placeOfLayer(grid, place, blocks);
          return (
            <span key={`layer ${layer}`} class="model-number layer" style={{ gridRow: row + 2, gridColumn: block * (across + 1) + 1 }}>
              {layer}
            </span>
          );
        })}
      {buttons}
    </div>
  );
}

/** A number that fits below a small picture. */
function short(value: number): string {
  const size = Math.abs(value);
  return size >= 0.095 && size < 100 ? String(Number(value.toPrecision(2))) : size >= 0.001 && size < 100 ? value.toFixed(3) : number(value);
}

function keyAt(event: Event): string | null {
  return (event.target as HTMLElement).closest<HTMLElement>("[data-cell]")?.dataset.cell ?? null;
}

/** The nearest cell in a direction: layers may lack some heads. */
function neighbour(spots: Map<string, Spot>, key: string, [down, across]: [number, number]): string | null {
  const here = spots.get(key);
  if (!here) return null;
  let best: string | null = null;
  let nearest = Number.POSITIVE_INFINITY;
  for (const [other, spot] of spots) {
    const along = (spot.row - here.row) * down + (spot.column - here.column) * across;
    const aside = Math.abs((spot.row - here.row) * across) + Math.abs((spot.column - here.column) * down);
    const distance = along + 1000 * aside;
    if (along > 0 && distance < nearest && (down !== 0 || aside === 0)) [best, nearest] = [other, distance];
  }
  return best;
}
