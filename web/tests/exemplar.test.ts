// What the small picture of an exemplar shows: the pair is always in sight, and sinks are left out.
import { describe, expect, test } from "vitest";
import { linesOf, shareLeftOut, windowsOf } from "../src/report/exemplar";
import { distanceSaid } from "../src/report/Pictures";

describe("windows", () => {
  test("both sides show the same of a short text, and of a pair that is near", () => {
    expect(windowsOf([3, 1], [8, 8], true, 10)).toEqual([[0, 8], [0, 8]]);
    expect(windowsOf([20, 18], [40, 40], true, 10)).toEqual([[15, 25], [15, 25]]);
    expect(windowsOf([39, 38], [40, 40], true, 10)).toEqual([[30, 40], [30, 40]]);
  });

  test("a pair that is far apart has two, and so have two texts", () => {
    expect(windowsOf([30, 2], [40, 40], true, 10)).toEqual([[26, 36], [0, 10]]);
    expect(windowsOf([5, 5], [30, 7], false, 10)).toEqual([[1, 11], [0, 7]]);
  });

  test("whatever the pair, it is in sight", () => {
    for (let row = 0; row < 40; row++) {
      for (let key = 0; key < 40; key++) {
        const [left, right] = windowsOf([row, key], [40, 40], true, 10);
        expect(left[0] <= row && row < left[1] && right[0] <= key && key < right[1]).toBe(true);
        expect([left[1] - left[0], right[1] - right[0]]).toEqual([10, 10]);
      }
    }
  });
});

const SCORES = new Float32Array([1, 0, 0, 0.9, 0.1, 0, 0.5, 0.3, 0.2]); // three tokens of a decoder
const isFirst = (key: number) => key === 0;

test("lines without those to a sink, the strongest last", () => {
  const lines = linesOf(SCORES, 3, [[0, 3], [0, 3]], isFirst);
  expect(lines.map(({ from, to }) => [from, to])).toEqual([[1, 1], [2, 2], [2, 1]]);
  expect(lines.map(({ score }) => score)).toEqual([...new Float32Array([0.1, 0.2, 0.3])]);
  expect(linesOf(SCORES, 3, [[0, 2], [0, 1]], () => false)).toHaveLength(2);
});

test("the share that goes to sinks, of the rows in sight", () => {
  expect(shareLeftOut(SCORES, 3, [0, 3], isFirst)).toBeCloseTo(2.4 / 3);
  expect(shareLeftOut(SCORES, 3, [2, 3], isFirst)).toBeCloseTo(0.5);
});

test("distances in words", () => {
  expect([[0, 0], [-1, -1], [2, 2], [-17, -32], [129, null]].map(distanceSaid)).toEqual([
    "the token itself", "1 token before", "2 tokens after", "17 to 32 tokens before", "129 tokens or more after",
  ]);
});
