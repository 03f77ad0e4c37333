// The league: what of it is shown, its curves, and the axes that they are drawn along.
import { describe, expect, test } from "vitest";
import { linear, scaleOf } from "../src/drawing/scale";
import { bandOf, curvesOf } from "../src/league/Curves";
import { inOrder, recordsOf, shownOf } from "../src/league/records";
import { correlation, titleOf } from "../src/league/said";
import type { Column, Report, Table } from "../src/schema";

const row = (how: string, effect: string, number: string, rho: number | null, scope = "all") => ({ how, effect, number, rho, scope });
const ROWS = [
  row("zero", "kl", "entropy", 0.9),
  row("mean", "kl", "entropy", -0.2),
  row("mean", "kl", "output", 0.5),
  row("mean", "kl", "copying", null),
  row("mean", "loss", "entropy", 0.1),
];
const REPORT = { league: { way: "mean", effect: "kl" } } as Report;
const NOTHING = { how: "", effect: "", scope: "", number: "" };

describe("what is shown", () => {
  test("the run's own way and effect, and the best number", () => {
    expect(shownOf(REPORT, ROWS, NOTHING)).toEqual({ how: "mean", effect: "kl", scope: "all", number: "output" });
  });

  test("what a reader chooses, where the run has it", () => {
    expect(shownOf(REPORT, ROWS, { ...NOTHING, how: "zero", number: "output" }).number).toBe("entropy");
    expect(shownOf(REPORT, ROWS, { ...NOTHING, effect: "loss", scope: "decoder cross" })).toEqual({ how: "mean", effect: "loss", scope: "all", number: "entropy" });
    expect(shownOf(REPORT, [], NOTHING).number).toBe("");
  });

  test("the largest first, what is no number last", () => {
    expect(inOrder(ROWS, "rho").map((one) => one.rho)).toEqual([0.9, 0.5, 0.1, -0.2, null]);
  });

  test("rows by the names of their columns", () => {
    const table = { columns: [{ name: "a" }, { name: "b" }] as Column[] } as Table;
    expect(recordsOf(table, [[1, "x"]])).toEqual([{ a: 1, b: "x" }]);
  });

  test("numbers and titles as people read them", () => {
    expect([0.876, -0.004, -0.3].map(correlation)).toEqual(["0.88", "0.00", "−0.30"]);
    expect(titleOf([{ name: "entropy", title: "entropy of a row" }], "entropy")).toBe("Entropy of a row");
    expect(titleOf([], "other")).toBe("Other");
  });
});

describe("curves", () => {
  const rows = [
    { order: "random 1", share: 0.5, kl: 1 },
    { order: "random 1", share: 1, kl: 3 },
    { order: "random 2", share: 0.5, kl: 2 },
    { order: "random 2", share: 1, kl: 3 },
    { order: "output", share: 0.5, kl: null },
  ];

  test("begin with nothing gone and nothing lost", () => {
    expect([...curvesOf(rows, "kl")]).toEqual([
      ["random 1", [[0, 0], [0.5, 1], [1, 3]]],
      ["random 2", [[0, 0], [0.5, 2], [1, 3]]],
    ]);
  });

  test("the band has the least and the most of random orders", () => {
    expect(bandOf([...curvesOf(rows, "kl").values()])).toEqual([[0, 0, 0], [0.5, 1, 2], [1, 3, 3]]);
    expect(bandOf([])).toEqual([]);
  });
});

describe("axes", () => {
  test("round ticks between the ends", () => {
    const { ticks, written, place } = linear(0, 1, 5);
    expect(ticks.map(written)).toEqual(["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
    expect(place(0.25)).toBe(0.25);
    expect(linear(-7, 12, 4).ticks.map(linear(-7, 12, 4).written)).toEqual(["−5", "0", "5", "10"]);
  });

  test("numbers that spread far are on a logarithmic one, if all are positive", () => {
    const { ticks, written, log, place } = scaleOf([0.0005, 0.3], 5);
    expect(log).toBe(true);
    expect(ticks.map(written)).toEqual(["0.001", "0.01", "0.1"]);
    expect(place(0.01) - place(0.001)).toBeCloseTo(place(0.1) - place(0.01));
    expect(scaleOf([0, 0.3], 5).log).toBe(false);
    expect(scaleOf([1e-7, 1], 3).ticks.map(scaleOf([1e-7, 1], 3).written)).toEqual(["10⁻⁶", "0.001", "1"]);
  });

  test("whatever the numbers are, there is an axis with ticks on it", () => {
    for (const values of [[], [3], [0, 0], [-2, -1], [1e-9, 2e-9], [5, 5e6]]) {
      const { ticks, place } = scaleOf(values, 5);
      expect(ticks.length).toBeGreaterThan(0);
      for (const tick of ticks) expect(place(tick)).toBeGreaterThanOrEqual(-1e-9);
      for (const tick of ticks) expect(place(tick)).toBeLessThanOrEqual(1 + 1e-9);
      for (const value of values) expect(place(value)).toBeGreaterThan(0);
    }
  });
});
