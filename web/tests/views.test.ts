// What the views make of scores: lines, sums, smaller maps, differences, the way from a query to its weights, the order of heads.
import { describe, expect, test } from "vitest";
import { Scores } from "../src/data/scores";
import { type State, USUAL } from "../src/schema";
import { isolate, targets } from "../src/views/head/isolated";
import { chooseLines } from "../src/views/head/lines";
import { axesOf, chosenPlaces, headMaps } from "../src/views/head/maps";
import { matrixOf } from "../src/views/matrix/panels";
import { Pyramid } from "../src/views/matrix/pyramid";
import { inSight } from "../src/views/matrix/zoom";
import { byLayer, byStatistic, gridOf, inOrder, rangeOf } from "../src/views/model/cells";
import { blocksOf, cellSize } from "../src/views/model/layout";
import { keptPieces, queriesShown, queryChosen, stepsOf } from "../src/views/neuron/steps";
import { attentionOf, contentOf, sideOf, textOf, Writer } from "./contents";

const HEADS = [[0.7, 0.2, 0.1, 0, 1, 0, 0.5, 0.25, 0.25], [0, 0, 1, 0, 1, 0, 1, 0, 0]];

async function mapsOf(changes: Partial<State> = {}) {
  const state = { ...USUAL, ...changes };
  const { content, scores } = await textOf(sideOf("[CLS] the cat"), ...HEADS);
  const axes = axesOf(content, scores.attention, state);
  return headMaps(content, scores, state, axes, chosenPlaces(content, scores.attention, state), false);
}

describe("the head view", () => {
  test("one scale for all heads, and none below a part of the largest of them all", async () => {
    const maps = await mapsOf({ least: 0.3 });
    expect(maps.most).toBe(1);
    expect(maps.maps.map((map) => map.label)).toEqual(["0.0", "0.1"]);
    expect([...maps.maps[0].scores].map((score) => score > 0)).toEqual([true, false, false, false, true, false, true, false, false]);
  });

  test("the share on hidden tokens is that of all heads", async () => {
    expect((await mapsOf({ sinks: "hidden" })).hidden).toBeCloseTo((0.5 + 1) / 4);
  });

  test("chosen heads only", async () => {
    expect((await mapsOf({ heads: [1] })).maps.map((map) => map.place)).toEqual([1]);
  });

  test("a line for every score, or the strongest", async () => {
    const maps = await mapsOf();
    const all = chooseLines(maps, null, null);
    expect([all.all, all.score.length]).toEqual([10, 10]);
    const few = chooseLines(maps, null, null, 4);
    expect([few.all, [...few.score]]).toEqual([10, [1, 1, 1, 1]]);
    expect(chooseLines(maps, null, 1).all).toBe(3);
  });

  test("kept tokens are summed; one that is pointed at is looked at alone, or met by those kept on the other side", async () => {
    const maps = await mapsOf();
    expect(isolate([], null, maps)).toBeNull();
    expect(isolate(["q2", "q0", "q9"], null, maps)).toEqual({ rows: [0, 2], columns: [], met: null });
    expect(isolate(["q0"], "q1", maps)).toEqual({ rows: [1], columns: [], met: null });
    expect(isolate(["q0"], "k1", maps)).toEqual({ rows: [0], columns: [], met: "k1" });
    const kept = isolate(["q0", "q2"], null, maps);
    const found = kept && targets(maps, kept, true).map(({ token, scores }) => [token, ...scores.map((score) => Math.round(100 * score))]);
    expect(found).toEqual([[0, 120, 100], [2, 35, 100], [1, 45, 0]]);
    expect(chooseLines(maps, kept, null).all).toBe(8);
  });
});

describe("the matrix", () => {
  test("a smaller map keeps the largest of four, whatever its sign", () => {
    const map = new Pyramid(Float32Array.of(0, 1, 2, -3, 2, 1, 0, 0, 5), 3, 3);
    expect([...map.level(1).scores]).toEqual([-3, 2, 0, 5]);
    expect([...map.level(2).scores]).toEqual([5]);
    expect([map.rows, map.columns]).toEqual([3, 3]);
  });

  test("it moves just so far that a cell is in sight", () => {
    expect(inSight(0, 2, 10, 10, 100)).toBe(0); // it is already
    expect(inSight(0, 2, 60, 10, 100)).toBe(-40); // it was too far right
    expect(inSight(-80, 2, 10, 10, 100)).toBe(-20); // too far left
  });

  test("two measures, and the difference of their shares of a row", async () => {
    const writer = new Writer();
    const scores = {
      weight: { form: "floats" as const, at: writer.floats([0.5, 0.5, 0.25, 0.75], [1, 2, 2]) },
      norm: { form: "floats" as const, at: writer.floats([3, 1, 1, 1], [1, 2, 2]) },
    };
    const attention = attentionOf(scores, 1);
    const loaded = await Scores.load(attention, writer.chunks, 2, 2);
    const { panels } = matrixOf(contentOf(sideOf("a b"), [attention]), loaded, { ...USUAL, compare: "norm" }, 0);
    expect(panels.map((panel) => panel.name)).toEqual(["weight", "norm", "difference"]);
    expect(panels[2].score(0, 0)).toBeCloseTo(0.75 - 0.5);
    expect(panels[2].score(1, 1)).toBeCloseTo(0.5 - 0.75);
    expect([panels[1].share(0, 0), panels[1].most, panels[2].signed]).toEqual([0.75, 3, true]);
  });

  test("only what is shown", async () => {
    const { content, scores } = await textOf(sideOf("[CLS] a b"), HEADS[0]);
    const { rows, columns, panels, hidden } = matrixOf(content, scores, { ...USUAL, sinks: "hidden" }, 0);
    expect([rows.labels, columns.places]).toEqual([["a", "b"], [1, 2]]);
    expect(panels[0].score(1, 1)).toBe(0.25);
    expect(hidden).toBeCloseTo(0.25);
  });
});

describe("the model view", () => {
  const layers = [attentionOf({ weight: { form: "same", of: "weight" } }, 2), attentionOf({ weight: { form: "same", of: "weight" } }, 2, { layer: 2, heads: [1, 5] })];
  const content = contentOf(sideOf("a"), layers);
  const grid = gridOf(content, layers, "weight");
  const statistic = { name: "entropy.entropy", title: "", about: "", values: { "encoder self 0.0": 0.5, "encoder self 2.5": 2, "encoder self 2.1": 1 } };

  test("heads of one number stand below each other", () => {
    expect(grid.heads).toEqual([0, 1, 5]);
    expect([...byLayer(grid)].map(([key, { row, column }]) => [key, row, column])).toEqual([["0.0", 0, 0], ["0.1", 0, 1], ["2.1", 1, 1], ["2.5", 1, 2]]);
  });

  test("layers of a deep model stand in blocks beside each other, where there is room", () => {
    const spots = byLayer(grid, 2);
    expect([...spots].map(([key, { row, column, block }]) => [key, row, column, block])).toEqual([
      ["0.0", 0, 0, 0],
      ["0.1", 0, 1, 0],
      ["2.1", 0, 4, 1],
      ["2.5", 0, 5, 1],
    ]);
    const deep = { ...grid, layers: Array.from({ length: 30 }, (_, layer) => layer), heads: [0, 1, 2, 3, 4, 5, 6, 7, 8] };
    expect([744, 1126, 1824].map((width) => blocksOf(width, deep, 64, 1400))).toEqual([1, 2, 2]);
    expect(cellSize(1126, 9, 22, 93, 2)).toBe(53);
    expect(blocksOf(1824, { ...deep, layers: deep.layers.slice(0, 12) }, 64, 1400)).toBe(1);
  });

  test("by a statistic, the largest first; unknown ones last, and gone where a least is asked for", () => {
    const keys = (above: number | null) => byStatistic(grid, statistic, above).map((cell) => cell.key);
    expect(keys(null)).toEqual(["2.5", "2.1", "0.0", "0.1"]);
    expect(keys(0.8)).toEqual(["2.5", "2.1"]);
    expect(rangeOf(statistic, grid)).toEqual([0.5, 2]);
    expect(inOrder(byStatistic(grid, statistic, null), 3, statistic).get("0.1")).toEqual({ row: 1, column: 0, block: 0, value: null });
  });
});

describe("the neuron view", () => {
  const side = sideOf("[CLS] un ##real cat");

  test("the token that is chosen: the first kept one that is shown, else the last that is not special", () => {
    const content = contentOf(sideOf("[CLS] a b | c [SEP]"), []);
    const can = queriesShown(content, attentionOf({}, 1), { ...USUAL, sinks: "hidden", pairs: "ab" });
    expect(can).toEqual([false, true, true, false, false]);
    expect(queryChosen([0, 1], can, content.sides.source.special)).toBe(1);
    expect(queryChosen([], can, content.sides.source.special)).toBe(2);
  });

  test("of a kept word, its first piece", () => {
    expect(keptPieces({ ...USUAL, level: "word", keep: ["q1", "k2", "q9"] }, "q", side)).toEqual([1]);
    expect(keptPieces({ ...USUAL, keep: ["q3"] }, "q", side)).toEqual([3]);
  });

  test("from q and k to the weights", async () => {
    const writer = new Writer();
    const neurons = {
      queries: { form: "floats" as const, at: writer.floats([0, 0, 1, 2], [1, 2, 2]) },
      keys: { form: "floats" as const, at: writer.floats([1, 1, -1, 0.5], [1, 2, 2]) },
      scaling: 0.5,
      exact: true,
      why: "",
    };
    const value_norm = writer.floats([2, 4], [1, 2]);
    const odds = Math.exp(0.5 * 3);
    const at = writer.floats([1, 0, odds / (odds + 1), 1 / (odds + 1)], [1, 2, 2]);
    const attention = attentionOf({ weight: { form: "floats", at } }, 1, { neurons, value_norm });
    const content = contentOf(sideOf("a b"), [attention]);
    const scores = await Scores.load(attention, writer.chunks, 2, 2);
    const { shown } = stepsOf(content, scores, neurons, USUAL, 0, 1);
    expect(shown.map((step) => [step.dot, step.scaled])).toEqual([[3, 1.5], [0, 0]]);
    expect(shown[0].norm).toBeCloseTo((2 * odds) / (odds + 1));
    const first = stepsOf(content, scores, neurons, USUAL, 0, 0).shown;
    expect(first.map((step) => step.unseen)).toEqual([false, true]); // an exact 0: it was not to be seen
    expect(stepsOf(content, scores, neurons, { ...USUAL, top: 1 }, 0, 1)).toMatchObject({ left: 1, hidden: null });
  });
});
