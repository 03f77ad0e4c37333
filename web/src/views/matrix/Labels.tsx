// The tokens along one side of a map: as many as there is room for, and always the one that is pointed at.
import { useMemo } from "preact/hooks";
import { PITCH } from "./layout";
import type { Tokens } from "./panels";

interface Props {
  side: "row" | "column";
  tokens: Tokens;
  start: number; // pixels of the first cell, as it is zoomed and moved
  cell: number; // pixels of a cell
  length: number; // pixels of the map
  room: number; // pixels across
  at: number | null; // the one that is pointed at
  kept: Set<number>; // places among the tokens that are shown
  onKeep: (place: number) => void;
}

/** Every so many-th place of a side, of those in sight. */
export function withRoom(count: number, start: number, cell: number, length: number): { every: number; found: number[] } {
  const every = Math.max(1, Math.ceil(PITCH / cell - 1e-6));
  const first = Math.max(0, Math.floor(-start / cell / every) * every);
  const found: number[] = [];
  for (let place = first; place < count && start + (place + 0.5) * cell < length + 1; place += every) {
    if (start + (place + 0.5) * cell > -1) found.push(place);
  }
  return { every, found };
}

export function Labels({ side, tokens, start, cell, length, room, at, kept, onKeep }: Props) {
  const places = useMemo(() => withRoom(tokens.labels.length, start, cell, length), [start, cell, length, tokens]);
  // One that is pointed at or kept and has no room of its own stands in front of its neighbours.
  const inSight = (place: number) => start + (place + 0.5) * cell > 0 && start + (place + 0.5) * cell < length;
  const raised = new Set([...kept, ...(at === null ? [] : [at])].filter((place) => place % places.every !== 0 && inSight(place)));
  const across = side === "row" ? "top" : "left";
  const size = side === "row" ? { width: `${room}px`, height: `${length}px` } : { height: `${room}px`, width: `${length}px` };
  return (
    <div class={`matrix-labels of-${side}s`} style={size} aria-hidden="true">
      {[...places.found, ...raised].map((place) => (
        <span
          key={place}
          class="matrix-label"
          title={tokens.titles[place]}
          data-place={tokens.places[place]}
          data-change={tokens.changes[place] || undefined}
          data-at={place === at}
          data-kept={kept.has(place)}
          data-raised={raised.has(place)}
          style={{ [across]: `${start + (place + 0.5) * cell}px`, ...(side === "row" ? { maxWidth: `${room - 4}px` } : { maxHeight: `${room - 4}px` }) }}
          onClick={() => onKeep(place)}
        >
          <bdi>{tokens.labels[place]}</bdi>
        </span>
      ))}
    </div>
  );
}
