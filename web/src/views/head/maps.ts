// The maps of the heads that are shown: between the same two axes, and on one scale, so that heads can be compared.
import type { Axis } from "../../data/axis";
import { isDifference, isJoint } from "../../data/content";
import { shownOf } from "../../data/maps";
import type { Scores } from "../../data/scores";
import { hiddenOf, hiddenOfRows, placesOf, shownTokens } from "../../data/shown";
import { axesWithin } from "../../data/sinks";
import { headColour, LESS, MORE } from "../../drawing/colours";
import type { Attention, Content } from "../../schema";
import type { State } from "../../state";

export interface HeadMap {
  label: string; // `3.1`, or `all heads together`
  place: number; // among the heads of this attention
  colour: string;
  below: string; // of scores below zero
  scores: Float32Array; // (row, column) of the whole axes; 0 where nothing is drawn
}

/** The two axes, and which of their tokens are shown, from top to bottom. */
export interface Axes {
  rows: Axis;
  columns: Axis;
  rowPlaces: number[];
  columnPlaces: number[];
}

export interface HeadMaps extends Axes {
  maps: HeadMap[];
  most: number; // the largest |score| of them all
  hidden: number; // the share of the shown rows' scores that lies on sinks which are not shown
  rowHidden: Float32Array; // the same for each row
  negative: boolean; // whether any score is below zero
  difference: boolean; // whether scores are those of one text less those of another
}

export function axesOf(content: Content, attention: Attention, state: Pick<State, "level" | "pairs" | "sinks" | "of">): Axes {
  const { rows, columns } = axesWithin(content, attention, state.level, state.of);
  const { rowShown, columnShown } = shownTokens(rows, columns, state);
  return { rows, columns, rowPlaces: placesOf(rowShown), columnPlaces: placesOf(columnShown) };
}

/** The places of the heads that the state chooses; a joint measure has one map, in place 0. */
export function chosenPlaces(content: Content, attention: Attention, state: State): number[] {
  if (isJoint(content, attention, state.measure)) return [0];
  const all = attention.heads.map((_, place) => place);
  return state.heads === null ? all : all.filter((place) => state.heads?.includes(attention.heads[place]));
}

export function headLabel(content: Content, attention: Attention, measure: string, place: number): string {
  return isJoint(content, attention, measure) ? "all heads together" : `${attention.layer}.${attention.heads[place]}`;
}

/** The maps of some heads. The threshold is a part of the largest score of all of them, as is the strength of lines. */
export function headMaps(
  content: Content,
  scores: Scores,
  state: State,
  axes: Axes,
  places: number[],
  dark: boolean,
): HeadMaps {
  const { attention } = scores;
  const { rows, columns } = axes;
  const joint = isJoint(content, attention, state.measure);
  const found = places.map((place) => shownOf(scores, state.measure, place, rows, columns, { ...state, least: 0 }));
  const most = Math.max(0, ...found.map((one) => one.most));
  const signs = isDifference(content, state) ? { colour: MORE(dark), below: LESS(dark) } : null;
  const maps = found.map((one, i) => ({
    label: headLabel(content, attention, state.measure, places[i]),
    place: places[i],
    colour: headColour(joint ? 0 : places[i], dark),
    below: headColour(joint ? 0 : places[i], dark),
    ...signs, // what there is more of and what less of is seen at once; which head it is, is read
    scores: state.least > 0 ? atLeast(one.scores, state.least * most) : one.scores,
  }));
  return {
    ...axes,
    maps,
    most,
    hidden: hiddenOf(found),
    rowHidden: hiddenOfRows(found),
    difference: signs !== null,
    negative: maps.some((map) => map.scores.some((score) => score < 0)),
  };
}

function atLeast(scores: Float32Array, least: number): Float32Array {
  return scores.map((score) => (Math.abs(score) < least ? 0 : score));
}
