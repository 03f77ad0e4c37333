// Choices in an address: what is written is read again, and what is wrong there is as if it were not.
import { describe, expect, test } from "vitest";
import { type Fields, flag, format, list, number, oneOf, parse, text } from "../src/fields";
import { format as formatLive, parse as parseLive } from "../src/live/address";
import { format as formatReport, parse as parseReport } from "../src/report/address";
import { USUAL } from "../src/schema";
import { format as formatViews, parse as parseViews } from "../src/state";

interface Choices {
  name: string;
  kind: "a" | "b";
  deep: boolean;
  most: number | null;
  some: number[] | null;
}

const FIELDS: Fields<Choices> = {
  name: text("x"),
  kind: oneOf(["a", "b"], "a"),
  deep: flag(false),
  most: number<number | null>(null, 1),
  some: list<number, number[] | null>(null, (one) => (/^\d+$/.test(one) ? Number(one) : undefined)),
};
const NOTHING: Choices = { name: "x", kind: "a", deep: false, most: null, some: null };

describe("fields", () => {
  test("nothing said is the usual", () => {
    expect(parse(FIELDS, "")).toEqual(NOTHING);
    expect(format(FIELDS, NOTHING)).toBe("");
  });

  test("what is written is read again", () => {
    const chosen: Choices = { name: "a&b=c #ü", kind: "b", deep: true, most: 2.5, some: [3, 1] };
    expect(format(FIELDS, chosen)).toBe("name=a%26b%3Dc%20%23%C3%BC&kind=b&deep=1&most=2.5&some=3,1");
    expect(parse(FIELDS, `#${format(FIELDS, chosen)}`)).toEqual(chosen);
  });

  test("none of several is not the same as all", () => {
    expect(format(FIELDS, { ...NOTHING, some: [] })).toBe("some=");
    expect(parse(FIELDS, "some=").some).toEqual([]);
  });

  test.each(["kind=c", "deep=yes", "most=much", "most=0", "most=", "most=Infinity", "unknown=1"])("%s says nothing", (fragment) => {
    expect(parse(FIELDS, fragment)).toEqual(NOTHING);
  });

  test("items that are none are left out, and the last word counts", () => {
    expect(parse(FIELDS, "some=1,x,3&kind=b&kind=a").some).toEqual([1, 3]);
    expect(parse(FIELDS, "kind=a&kind=b").kind).toBe("b");
  });
});

describe("the views' address", () => {
  test("is Python's", () => {
    const fragment = "view=matrix&layer=3&heads=0,4&level=word&least=0.1&sinks=hidden&keep=q1,k2&above=-0.5&theme=dark";
    expect(formatViews(parseViews(fragment))).toBe(fragment);
    expect(parseViews(fragment)).toEqual({
      ...USUAL, view: "matrix", layer: 3, heads: [0, 4], level: "word", least: 0.1, sinks: "hidden", keep: ["q1", "k2"], above: -0.5, theme: "dark",
    });
  });

  test("of another page does no harm", () => {
    expect(parseViews("view=film&layer=-1&least=-2&pairs=zz&level=letter&keep=x1,q&heads=a")).toEqual({ ...USUAL, heads: [], keep: [] });
  });
});

test("a report's address", () => {
  const fragment = "part=tables&head=cross%203.1&run=difference&order=value&bounds=1";
  expect(formatReport(parseReport(fragment))).toBe(fragment);
  expect(parseReport(fragment)).toMatchObject({ part: "tables", head: "cross 3.1", run: "difference", order: "value", bounds: true });
  expect(parseReport("part=text&exemplar=3.1")).toMatchObject({ part: "text", exemplar: "3.1" });
  expect(parseReport("part=nonsense").part).toBe("heads");
});

test("the live page has all of them in one address", () => {
  const state = parseLive("text=a%20cat&beside=1&besideKeep=q1&view=model&sort=entropy.entropy&by=distance.distance&theme=dark");
  expect(state).toMatchObject({
    part: "text", text: "a cat", beside: true, besideKeep: ["q1"], view: "model", sort: "entropy.entropy", by: "distance.distance", theme: "dark",
  });
  expect(parseLive(formatLive(state))).toEqual(state);
  expect(parseLive("part=tables").part).toBe("tables");
});
