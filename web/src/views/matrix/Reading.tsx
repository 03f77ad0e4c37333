// The numbers of one cell, as text: under the pointer, at the crosshair, or kept.
import { number, percent, signed } from "../../drawing/canvas";
import { useViewed } from "../../shell/viewed";
import type { Cell } from "./Heatmap";
import type { Matrix } from "./panels";

export function Reading({ matrix, cell }: { matrix: Matrix; cell: Cell | null }) {
  const { state } = useViewed();
  if (!cell) {
    return (
      <p class="matrix-reading" aria-live="polite">
        Rows attend to columns. Point at a cell for its numbers; a click keeps its row and column. Wheel or pinch zooms, dragging
        moves.
      </p>
    );
  }
  const { row, column } = cell;
  return (
    <p
      class="matrix-reading"
      aria-live="polite"
      data-query={matrix.rows.places[row]}
      data-key={matrix.columns.places[column]}
      data-scores={JSON.stringify(Object.fromEntries(matrix.panels.map((panel) => [panel.name, panel.score(row, column)])))}
      data-shares={JSON.stringify(Object.fromEntries(matrix.panels.map((panel) => [panel.name, panel.share(row, column)])))}
    >
      <b>
        <bdi>{matrix.rows.labels[row]}</bdi> → <bdi>{matrix.columns.labels[column]}</bdi>
      </b>
      {matrix.panels.map((panel) => (
        <span key={panel.name}>
          {panel.name === "difference" ? (
            <>difference {Number.isNaN(panel.share(row, column)) ? signed(panel.score(row, column)) : points(panel.score(row, column))}</>
          ) : (
            <>
              {panel.title.split(",")[0]} {number(panel.score(row, column))}
              {state.sinks !== "renormalised" && ` (${signedPercent(panel.share(row, column))} of its row)`}
            </>
          )}
        </span>
      ))}
    </p>
  );
}

function signedPercent(share: number): string {
  return share < 0 ? `−${percent(-share)}` : percent(share);
}

function points(share: number): string {
  return `${share > 0 ? "+" : ""}${signedPercent(share)} of the row`;
}
