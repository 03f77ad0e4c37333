// One heat map with its tokens and its legend. The map is one canvas, the crosshair another: pointing redraws no map.
import { useEffect, useRef } from "preact/hooks";
import { prepare } from "../../drawing/canvas";
import { useViewed } from "../../shell/viewed";
import { zoomOf } from "../../shell/zoom";
import { Labels } from "./Labels";
import { Legend } from "./Legend";
import type { Layout } from "./layout";
import { paint } from "./paint";
import type { Matrix, Panel } from "./panels";
import { RowShares } from "./RowShares";
import type { Zoom } from "./zoom";

export interface Cell {
  row: number; // places among the tokens that are shown
  column: number;
}

interface Props {
  matrix: Matrix;
  panel: Panel;
  layout: Layout;
  zoom: Zoom;
  rowLabels: boolean; // maps beside each other share them
  at: Cell | null;
  kept: { rows: Set<number>; columns: Set<number> };
  onPoint: (cell: Cell | null) => void;
  onKeep: (cell: Partial<Cell>) => void;
  onKey: (event: KeyboardEvent) => void;
  onDrawn: () => void;
}

export function Heatmap(props: Props) {
  const { matrix, panel, layout, zoom, at, kept, onPoint, onKeep, onDrawn } = props;
  const { dark } = useViewed();
  const map = useRef<HTMLCanvasElement>(null);
  const marks = useRef<HTMLCanvasElement>(null);
  const { k, x, y } = zoom.transform;
  const [cellWidth, cellHeight] = [layout.cellWidth * k, layout.cellHeight * k];

  useEffect(() => {
    if (!map.current) return;
    prepare(map.current, layout.width, layout.height);
    const [wide, high] = [map.current.width / layout.width, map.current.height / layout.height];
    const sight = { left: -x / cellWidth, top: -y / cellHeight, cellWidth: cellWidth * wide, cellHeight: cellHeight * high };
    paint(map.current, panel, sight, dark);
    onDrawn();
  }, [panel, layout, k, x, y, dark, onDrawn]);

  useEffect(() => {
    if (!marks.current) return;
    const context = prepare(marks.current, layout.width, layout.height);
    const style = getComputedStyle(marks.current);
    if (kept.rows.size || kept.columns.size) {
      context.globalAlpha = 0.72;
      context.fillStyle = style.getPropertyValue("--ground");
      for (const [top, bottom] of between(kept.rows, y, cellHeight, layout.height)) {
        for (const [left, right] of between(kept.columns, x, cellWidth, layout.width)) {
          context.fillRect(left, top, right - left, bottom - top);
        }
      }
      context.globalAlpha = 1;
    }
    if (!at) return;
    const [left, top] = [x + at.column * cellWidth, y + at.row * cellHeight];
    context.strokeStyle = style.getPropertyValue("--ink");
    context.globalAlpha = 0.35;
    context.strokeRect(-1, top, layout.width + 2, cellHeight);
    context.strokeRect(left, -1, cellWidth, layout.height + 2);
    context.globalAlpha = 1;
    context.lineWidth = 2;
    context.strokeRect(left, top, Math.max(3, cellWidth), Math.max(3, cellHeight));
  }, [at, kept, layout, k, x, y, dark]);

  const cellUnder = (event: MouseEvent): Cell | null => {
    const element = event.currentTarget as HTMLElement;
    const box = element.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / zoomOf(element) - x) / cellWidth);
    const row = Math.floor(((event.clientY - box.top) / zoomOf(element) - y) / cellHeight);
    return row >= 0 && row < panel.drawn.rows && column >= 0 && column < panel.drawn.columns ? { row, column } : null;
  };
  const size = { width: `${layout.width}px`, height: `${layout.height}px` };
  return (
    <figure class="heatmap" data-panel={panel.name} style={{ width: `${layout.figure + (props.rowLabels ? layout.rowLabels : 0)}px` }}>
      <figcaption title={panel.title} style={{ paddingLeft: props.rowLabels ? `${layout.rowLabels}px` : "0" }}>
        {panel.title}
      </figcaption>
      <p class="matrix-who" style={{ paddingLeft: props.rowLabels ? `${layout.rowLabels}px` : "0" }}>
        {props.rowLabels && <span class="who-attends">attends ↓</span>}
        <span>is attended to →</span>
      </p>
      <div class="matrix-axes">
        {props.rowLabels && (
          <Labels
            side="row"
            tokens={matrix.rows}
            start={y}
            cell={cellHeight}
            length={layout.height}
            room={layout.rowLabels}
            at={at?.row ?? null}
            kept={kept.rows}
            onKeep={(row) => onKeep({ row })}
          />
        )}
        <Labels
          side="column"
          tokens={matrix.columns}
          start={x}
          cell={cellWidth}
          length={layout.width}
          room={layout.columnLabels}
          at={at?.column ?? null}
          kept={kept.columns}
          onKeep={(column) => onKeep({ column })}
        />
        {panel.rowHidden && <RowShares shares={panel.rowHidden} start={y} cell={cellHeight} length={layout.height} width={layout.rowEnds} />}
        <div
          class="matrix-map"
          ref={zoom.attach}
          style={{ ...size, touchAction: k > 1 ? "none" : "pan-y" }}
          tabIndex={0}
          role="application"
          aria-roledescription="heat map"
          aria-label={`${panel.title}: ${panel.drawn.rows} by ${panel.drawn.columns}; arrow keys move, Enter keeps`}
          onPointerMove={(event) => onPoint(cellUnder(event))}
          onPointerLeave={() => onPoint(null)}
          onClick={(event) => {
            const cell = cellUnder(event);
            if (cell) onKeep(cell);
          }}
          onKeyDown={props.onKey}
        >
          <canvas ref={map} class="matrix-scores" />
          <canvas ref={marks} class="matrix-marks" />
        </div>
      </div>
      <div style={{ paddingLeft: props.rowLabels ? `${layout.rowLabels}px` : "0" }}>
        <Legend panel={panel} />
        {panel.about && <p class="matrix-about">{panel.about}</p>}
      </div>
    </figure>
  );
}

/** From where to where, in pixels, there is none of the kept rows or columns. */
function between(kept: Set<number>, start: number, cell: number, room: number): [number, number][] {
  const ends = [...kept].sort((a, b) => a - b).flatMap((place) => [start + place * cell, start + place * cell + Math.max(1, cell)]);
  const edges = [0, ...ends, room];
  return edges.flatMap((from, i) => (i % 2 === 0 && edges[i + 1] > from ? [[from, edges[i + 1]] as [number, number]] : []));
}
