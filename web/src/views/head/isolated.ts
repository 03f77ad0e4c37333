// Which tokens are looked at alone: the one under the pointer or the focus, else those that are kept, with their sum.
import type { Axes, HeadMap, HeadMaps } from "./maps";

/** Tokens by their numbers on the axes: `rows` attend, `columns` are attended to. */
export interface Isolated {
  rows: number[];
  columns: number[];
  /** A token of the other side that is pointed at: its pairs with the isolated ones are read out. */
  met: string | null;
}

/** One of the tokens on the other side, with the sum of the isolated tokens' scores for each map. */
export interface Target {
  token: number;
  scores: number[];
  total: number; // of the sizes, over all maps: what targets are put in order by
}

export function sideOf(name: string): "q" | "k" {
  return name[0] === "k" ? "k" : "q";
}

export function numberOf(name: string): number {
  return Number(name.slice(1));
}

/**
 * A token that is pointed at is looked at alone, unless tokens of the other side are kept: then it is met by them, so
 * that one can walk along the other side and read the numbers.
 */
export function isolate(keep: string[], pointed: string | null, { rowPlaces, columnPlaces }: Axes): Isolated | null {
  const here = (name: string) => (sideOf(name) === "q" ? rowPlaces : columnPlaces).includes(numberOf(name));
  const kept = keep.filter(here);
  const active = pointed !== null && here(pointed) ? pointed : null;
  if (active !== null && !kept.includes(active)) {
    if (kept.some((name) => sideOf(name) !== sideOf(active))) return { ...split(kept), met: active };
    return { ...split([active]), met: null };
  }
  return kept.length ? { ...split(kept), met: null } : null;
}

function split(names: string[]): { rows: number[]; columns: number[] } {
  const of = (side: string) => names.filter((name) => sideOf(name) === side).map(numberOf).sort((one, other) => one - other);
  return { rows: of("q"), columns: of("k") };
}

/** The sum of a map's scores from the tokens `rows` to the token `column`. */
export function sumTo(map: HeadMap, width: number, rows: number[], column: number): number {
  return rows.reduce((sum, row) => sum + map.scores[row * width + column], 0);
}

/** The sum of a map's scores from the token `row` to the tokens `columns`. */
export function sumFrom(map: HeadMap, width: number, row: number, columns: number[]): number {
  return columns.reduce((sum, column) => sum + map.scores[row * width + column], 0);
}

/** What the isolated rows attend to (or what attends to the isolated columns), the largest first. */
export function targets(maps: HeadMaps, isolated: Isolated, attended: boolean): Target[] {
  const width = maps.columns.labels.length;
  const found = (attended ? maps.columnPlaces : maps.rowPlaces).map((token) => {
    const scores = maps.maps.map((map) =>
      attended ? sumTo(map, width, isolated.rows, token) : sumFrom(map, width, token, isolated.columns),
    );
    return { token, scores, total: scores.reduce((sum, score) => sum + Math.abs(score), 0) };
  });
  return found.filter((target) => target.total > 0).sort((one, other) => other.total - one.total || one.token - other.token);
}
