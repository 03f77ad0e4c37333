// Which changes are steps that the browser's Back takes back.
import { describe, expect, test } from "vitest";
import { USUAL } from "../src/schema";
import { goesOn, stepped } from "../src/shell/address";
import { ONE_BY_ONE, PASSING } from "../src/state";

describe("a step", () => {
  test("is a choice, and not what is moved or marked on the way", () => {
    const steps = (changes: Partial<typeof USUAL>) => stepped(USUAL, { ...USUAL, ...changes }, PASSING);
    expect(steps({ view: "matrix", least: 0.5 })).toEqual(["view"]);
    expect(steps({ least: 0.5, top: 3, above: 1, keep: ["q1"], theme: "dark" })).toEqual([]);
    expect(steps({ heads: [] })).toEqual(["heads"]);
    expect(stepped({ ...USUAL, heads: [1] }, { ...USUAL, heads: [1] }, PASSING)).toEqual([]);
  });

  test("goes on with the last where layers are gone through quickly", () => {
    const at = (fields: string[], at: number) => ({ fields, at });
    expect(goesOn(at(["layer"], 900), at(["layer"], 0), ONE_BY_ONE)).toBe(true);
    expect(goesOn(at(["layer"], 1100), at(["layer"], 0), ONE_BY_ONE)).toBe(false);
    expect(goesOn(at(["layer"], 1), at(["heads"], 0), ONE_BY_ONE)).toBe(false);
    expect(goesOn(at(["view"], 1), at(["view"], 0), ONE_BY_ONE)).toBe(false);
    expect(goesOn(at([], 1), at([], 0), ONE_BY_ONE)).toBe(false);
  });
});
