// Two texts on one axis, and B - A between their tokens: by hand.
import { describe, expect, test } from "vitest";
import { axisOf } from "../src/data/axis";
import { isDifference, isJoint } from "../src/data/content";
import { mapOf, shownOf } from "../src/data/maps";
import { Scores } from "../src/data/scores";
import { axesWithin } from "../src/data/sinks";
import { type Content, type Side, USUAL } from "../src/schema";
import { matrixOfTwo } from "../src/views/matrix/difference";
import { matrixOf } from "../src/views/matrix/panels";
import { attentionOf, contentOf, sideOf, Writer } from "./contents";

/** A is "the cats", in pieces "the cat ##s"; B is "the old cat": cats and cat are exchanged, old is put in. */
const SIDE: Side = {
  ...sideOf("the old cat s"),
  words: ["the", "old", "cats/cat"],
  word_of: [0, 1, 2, 2],
  joint: {
    a: { places: [0, null, 1, 2], tokens: ["the", "", "cat", "s"], words: ["the", "", "cats"] },
    b: { places: [0, 1, 2, null], tokens: ["the", "old", "cat", ""], words: ["the", "old", "cat"] },
    tokens: ["", "put in", "", "left out"],
    words: ["", "put in", "exchanged"],
  },
};
const A = [0.5, 0.25, 0.25, 0.2, 0.3, 0.5, 0.4, 0.2, 0.4];
const B = [0.1, 0.2, 0.7, 1, 0, 0, 0.6, 0.2, 0.2];

async function compared(): Promise<{ content: Content; scores: Scores }> {
  const writer = new Writer();
  const parts = [A, B].map((values) => ({
    scores: { weight: { form: "floats" as const, at: writer.floats(values, [1, 3, 3]) } },
    value_norm: null,
  }));
  const attention = attentionOf({ weight: { form: "difference" } }, 1, { parts });
  const both = { a: { title: "the cats", model: "m" }, b: { title: "the old cat", model: "m" }, notes: [] };
  const content = contentOf(SIDE, [attention], { compared: both });
  return { content, scores: await Scores.load(attention, writer.chunks, 4, 4) };
}

const STATE = { ...USUAL, sinks: "shown" as const };
const rounded = (scores: Float32Array) => [...scores].map((score) => Math.round(100 * score) / 100 + 0);

describe("the difference of two texts", () => {
  test("in tokens: what one has alone gets a difference, and gives none", async () => {
    const { scores } = await compared();
    const axis = axisOf(SIDE, "token");
    expect(rounded(shownOf(scores, "weight", 0, axis, axis, STATE).scores)).toEqual([
      -0.4, 0.2, 0.45, -0.25, 0, 0, 0, 0, 0.4, 0.2, -0.1, -0.5, 0, 0, 0, 0,
    ]);
  });

  test("in words: each text is merged by its own pieces", async () => {
    const { scores } = await compared();
    const axis = axisOf(SIDE, "word");
    // cats attends in A: to the, the mean of 0.2 and 0.4; to itself, the mean of 0.8 and 0.6
    expect(rounded(mapOf(scores, "weight", 0, axis, axis, "a"))).toEqual([0.5, 0, 0.5, 0, 0, 0, 0.3, 0, 0.7]);
    expect(rounded(shownOf(scores, "weight", 0, axis, axis, STATE).scores)).toEqual([-0.4, 0.2, 0.2, 0, 0, 0, 0.3, 0.2, -0.5]);
  });

  test("one text alone, on the axis of both, in its own words", async () => {
    const { scores } = await compared();
    const axis = axisOf(SIDE, "token", "b");
    expect(axis.labels).toEqual(["the", "old", "cat", "s"]);
    expect(axisOf(SIDE, "word", "a").labels).toEqual(["the", "old", "cats"]);
    expect(rounded(mapOf(scores, "weight", 0, axis, axis, "b"))).toEqual([0.1, 0.2, 0.7, 0, 1, 0, 0, 0, 0.6, 0.2, 0.2, 0, 0, 0, 0, 0]);
  });

  test("the matrix has A, B and B − A; A and B on one scale", async () => {
    const { content, scores } = await compared();
    const { panels, rows } = matrixOfTwo(content, scores, { ...STATE, view: "matrix" }, 0);
    expect(panels.map(({ name, title, signed }) => [name, title, signed])).toEqual([
      ["a", "A, weight, head 0.0", false],
      ["b", "B, weight, head 0.0", false],
      ["difference", "B − A, weight, head 0.0", true],
    ]);
    expect(panels.map(({ most }) => Math.round(100 * most))).toEqual([100, 100, 50]);
    expect(panels.map((panel) => Math.round(100 * panel.score(0, 2)))).toEqual([25, 70, 45]);
    expect(rows.changes).toEqual(["", "put in", "", "left out"]);
    expect(matrixOf(content, scores, { ...STATE, view: "matrix", of: "b" }, 0).panels.map(({ title }) => title)).toEqual(["B, weight, head 0.0"]);
  });

  test("without sinks, what is left of each row is made shares before one is taken from the other", async () => {
    const { content, scores } = await compared();
    const { rows, columns } = axesWithin({ ...content, sinks: { "encoder self": [true, false, false, false] } }, scores.attention, "token");
    const hidden = shownOf(scores, "weight", 0, rows, columns, { ...STATE, sinks: "hidden" });
    expect(rounded(hidden.scores).slice(0, 4)).toEqual([0, 0.2, 0.45, -0.25]);
    expect(hidden.onSinks[0] / hidden.totals[0]).toBeCloseTo((0.5 + 0.1) / 2); // of both
    const found = shownOf(scores, "weight", 0, rows, columns, { ...STATE, sinks: "renormalised" });
    // in A the shares beyond the sink are 0, 0.5, 0.5 (cat, ##s), in B 2/9 (old), 7/9 (cat)
    expect([...found.scores].slice(0, 4).map((score) => Math.round(1000 * score) + 0)).toEqual([0, 222, 278, -500]);
    const panels = matrixOfTwo({ ...content, sinks: { "encoder self": [true, false, false, false] } }, scores, { ...STATE, sinks: "renormalised" }, 0).panels;
    expect(panels.map((panel) => Math.round(1000 * panel.score(0, 1)))).toEqual([500, 778, 278]);
    expect(panels.map((panel) => panel.rowHidden?.[0] ?? null)).toEqual([0.5, 0.1 / (0.1 + 0.2 + 0.7), null].map((share) => share === null ? null : expect.closeTo(share)));
  });

  test("what rounding to bytes could have made is no difference", async () => {
    const writer = new Writer();
    const part = (levels: number[]) => ({
      scores: {
        weight: {
          form: "levels" as const,
          at: writer.levels(levels, [1, 2, 2]),
          steps: writer.floats([1 / 255], [1, 1]),
          zeros: writer.levels([0], [1]),
        },
      },
      value_norm: null,
    });
    const joint = { places: [0, 1], tokens: ["a", "b"], words: ["a", "b"] };
    const side: Side = { ...sideOf("a b"), joint: { a: joint, b: joint, tokens: ["", ""], words: ["", ""] } };
    const attention = attentionOf({ weight: { form: "difference" } }, 1, { parts: [part([255, 0, 100, 155]), part([255, 0, 101, 150])] });
    const scores = await Scores.load(attention, writer.chunks, 2, 2);
    const axis = axisOf(side, "token");
    expect(rounded(shownOf(scores, "weight", 0, axis, axis, STATE).scores)).toEqual([0, 0, 0, -0.02]); // one level may be none, five are not
  });

  test("it has signs unless one of the two is shown", async () => {
    const { content, scores } = await compared();
    expect([isDifference(content, { of: "" }), isDifference(content, { of: "a" })]).toEqual([true, false]);
    expect(isDifference({ ...content, compared: null }, { of: "" })).toBe(false);
    expect(isJoint(content, scores.attention, "weight")).toBe(false);
  });
});
