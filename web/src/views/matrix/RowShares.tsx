// At the end of a map's rows: what each of them gives to sinks that are not shown.
import { percent } from "../../drawing/canvas";
import { withRoom } from "./Labels";

interface Props {
  shares: number[]; // of the rows that are shown
  start: number; // pixels of the first row, as it is zoomed and moved
  cell: number; // pixels of a row
  length: number; // pixels of the map
  width: number;
}

export function RowShares({ shares, start, cell, length, width }: Props) {
  return (
    <>
      <span class="row-shares-title">sinks</span>
      <div class="row-shares" style={{ width: `${width}px`, height: `${length}px` }} title="What each row gives to sinks, which are not shown">
        {withRoom(shares.length, start, cell, length).found.map((row) => (
          <span key={row} data-row={row} data-share={shares[row]} style={{ top: `${start + (row + 0.5) * cell}px` }}>
            {percent(shares[row])}
          </span>
        ))}
      </div>
    </>
  );
}
