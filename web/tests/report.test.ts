// A report's tables and numbers: which rows, in which order, and in which colours.
import { describe, expect, test } from "vitest";
import { inkOn } from "../src/drawing/colours";
import { csvOf } from "../src/report/csv";
import { columnsShown, decimalsOf, hasBounds, headColumns, labelOf, rowsShown } from "../src/report/rows";
import { rankOf, shownOf } from "../src/report/values";
import type { Cell, Column, Report, Statistic, Table } from "../src/schema";

const column = (name: string): Column => ({ name, title: name, about: "", numeric: name !== "word" });
const names = ["stack", "kind", "layer", "head", "word", "share", "share_low", "share_high"];
const TABLE = { name: "t", title: "", about: "", columns: names.map(column), rows: null, total: 3 } as Table;
const ROWS: Cell[][] = [
  ["encoder", "self", 0, 0, "cat", 0.5, 0.4, 0.6],
  ["encoder", "self", 0, 1, "Dog, a", null, null, null],
  ["encoder", "self", 10, 0, "ant", 12.25, 10, 13],
];

describe("tables", () => {
  const rows = (find: string, sort: string) => rowsShown(TABLE, ROWS, find, sort, (row) => `${row[2]}.${row[3]}`).map((row) => row[4]);

  test("sorted, with what is missing last in either direction", () => {
    expect(rows("", "share")).toEqual(["cat", "ant", "Dog, a"]);
    expect(rows("", "-share")).toEqual(["ant", "cat", "Dog, a"]);
    expect(rows("", "word")).toEqual(["ant", "cat", "Dog, a"]);
    expect(rows("", "-")).toEqual(["ant", "Dog, a", "cat"]);
  });

  test("found by a word or by a head's label", () => {
    expect(rows("dog", "")).toEqual(["Dog, a"]);
    expect(rows("0.0", "")).toEqual(["cat"]);
  });

  test("columns without what the label says, and without the ends of intervals", () => {
    expect(columnsShown(TABLE, false).map((placed) => placed.column.name)).toEqual(["word", "share"]);
    expect(columnsShown(TABLE, true)).toHaveLength(4);
    expect(hasBounds(TABLE)).toBe(true);
    expect(hasBounds({ ...TABLE, columns: [column("share_low")] })).toBe(false);
  });

  test("the label of a row's head", () => {
    const report = { heads: [{ name: "encoder self 10.0", label: "10.0" }] } as Report;
    const places = headColumns(TABLE) ?? [];
    expect(ROWS.map((row) => labelOf(report, places, row))).toEqual([null, null, "10.0"]);
    expect(headColumns({ ...TABLE, columns: [column("layer")] })).toBeNull();
  });

  test("as many decimals in all rows", () => {
    expect(decimalsOf(TABLE, ROWS)).toEqual([0, 0, 0, 0, 0, 2, 2, 2]);
  });

  test("as CSV", () => {
    const some = { ...TABLE, columns: [column("word"), column("share")] };
    expect(csvOf(some, [["Dog, a", null], ['"x"', 1.5], [true, 0]])).toBe('word,share\r\n"Dog, a",\r\n"""x""",1.5\r\nTrue,0\r\n');
  });
});

describe("numbers of the atlas", () => {
  const statistic = { title: "Entropy", about: "", values: [1, 3, null], other: [2, null, 4] } as Statistic;

  test("both runs are on one scale", () => {
    expect(shownOf(statistic, "one")).toMatchObject({ values: [1, 3, null], least: 0, most: 4, signed: false });
    expect(shownOf(statistic, "other")).toMatchObject({ values: [2, null, 4], least: 0, most: 4 });
  });

  test("a difference has a sign, and none where a number is missing", () => {
    expect(shownOf(statistic, "difference")).toMatchObject({ values: [1, null, null], least: -1, most: 1, signed: true });
    expect(shownOf(statistic, "difference")).toMatchObject({ title: "Entropy, B − A", apart: { a: [1, 3, null], b: [2, null, 4] } });
    expect(shownOf(statistic, "one").apart).toBe(null);
  });

  test("ranks, and ink that is read on a colour", () => {
    expect([3, 1].map((value) => rankOf(statistic.values, value))).toEqual([1, 2]);
    expect([inkOn([255, 255, 255]), inkOn([0, 40, 63])]).toEqual(["#000000", "#ffffff"]);
    expect(inkOn([0, 158, 115])).toEqual("#000000"); // white on this green is 3.4 : 1
  });
});
