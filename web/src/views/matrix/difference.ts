// The heat maps of two that are compared: A and B on one scale, and B - A.
import { mapOf, shownOf } from "../../data/maps";
import type { Scores } from "../../data/scores";
import { hiddenOf, hiddenOfRows, placesOf, type Shown, withoutSinks } from "../../data/shown";
import { axesWithin } from "../../data/sinks";
import type { Content, Of } from "../../schema";
import type { State } from "../../state";
import { compact, type Matrix, onMap, type Panel, panelTitle, pick, tokensOf } from "./panels";

const ABOUT = "A row that only one of the two has is empty: there is nothing to compare it with.";

export function matrixOfTwo(content: Content, scores: Scores, state: State, head: number): Matrix {
  const { attention } = scores;
  const { rows, columns } = axesWithin(content, attention, state.level);
  const width = columns.labels.length;
  const place = Math.max(0, attention.heads.indexOf(head));
  const renormalised = state.sinks === "renormalised";
  const title = panelTitle(content, attention, state, state.measure, head);
  const find = (of: Of, changes: Partial<State> = {}) => shownOf(scores, state.measure, place, rows, columns, { ...state, ...changes, of });
  const [a, b, apart] = [find("a"), find("b"), find("")];
  const whole = find("", { least: 0, top: 0 }).scores; // also of what a threshold leaves out
  const [rowPlaces, columnPlaces] = [placesOf(apart.rowShown), placesOf(apart.columnShown)];
  const at = (row: number, column: number) => rowPlaces[row] * width + columnPlaces[column];

  const most = Math.max(a.most, b.most); // one scale for both, so that they can be compared
  const panel = (name: string, found: Shown, score: Panel["score"], share: Panel["share"]): Panel => ({
    name,
    title: `${name === "difference" ? "B − A" : name.toUpperCase()}, ${title}`,
    about: name === "difference" ? ABOUT : "",
    signs: name === "difference" ? "blue is more in B, orange less" : "orange is below zero",
    signed: name === "difference" || found.scores.some((one) => one < 0),
    ...onMap(compact(found.scores, width, rowPlaces, columnPlaces), rowPlaces.length, columnPlaces.length, name === "difference" ? found.most : most, state.scale),
    score,
    share,
    rowHidden: withoutSinks(state) && name !== "difference" ? pick([...hiddenOfRows([found])], rowPlaces) : null,
  });
  const part = (of: "a" | "b", found: Shown): Panel => {
    const map = mapOf(scores, state.measure, place, rows, columns, of);
    const sumOf = (row: number) => found.totals[rowPlaces[row]] - (renormalised ? found.onSinks[rowPlaces[row]] : 0) || 1;
    const share: Panel["share"] = (row, column) => map[at(row, column)] / sumOf(row);
    return panel(of, found, renormalised ? share : (row, column) => map[at(row, column)], share);
  };
  const both = [part("a", a), part("b", b)];
  const difference = panel("difference", apart, (row, column) => whole[at(row, column)], () => Number.NaN);
  return {
    rows: tokensOf(rows, rowPlaces),
    columns: tokensOf(columns, columnPlaces),
    panels: [...both, difference],
    hidden: withoutSinks(state) ? hiddenOf([apart]) : null,
  };
}
