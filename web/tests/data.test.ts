// From bytes to scores, from tokens to words, and which pairs are shown: by hand on a few tokens.
import { describe, expect, test } from "vitest";
import { axisOf, merge } from "../src/data/axis";
import { groupsOf, headName, isJoint, layersSaid } from "../src/data/content";
import { Scores } from "../src/data/scores";
import { hiddenOf, hiddenOfRows, shown } from "../src/data/shown";
import { axesWithin, hasSinks, sinksNamed, usualSinks } from "../src/data/sinks";
import { USUAL } from "../src/schema";
import { attentionOf, contentOf, sideOf, textOf, Writer } from "./contents";

describe("axes", () => {
  const side = sideOf("[CLS] the un ##real cat");

  test("words are made of their pieces", () => {
    const words = axisOf(side, "word");
    expect(words.labels).toEqual(["[CLS]", "the", "unreal", "cat"]);
    expect(words.titles[2]).toBe("un ##real");
    expect(words.members).toEqual([[0], [1], [2, 3], [4]]);
    expect(words.special).toEqual([true, false, false, false]);
  });

  test("attention to a word is the sum over its pieces, from it the mean", () => {
    const words = axisOf(sideOf("the un ##real"), "word");
    const merged = merge(Float32Array.of(0.5, 0.25, 0.25, 0, 0.5, 0.5, 0, 0, 1), words.members, words.members, 3);
    expect([...merged]).toEqual([0.5, 0.5, 0, 1]); // as in src/headscope/views/merging.py
  });

  test("tokens need no merging", () => {
    const tokens = axisOf(side, "token");
    const scores = new Float32Array(25);
    expect(merge(scores, tokens.members, tokens.members, 5)).toBe(scores);
  });
});

describe("what is shown", () => {
  const side = sideOf("[CLS] a | b c");
  const { columns: axis, rows } = axesWithin(contentOf(side, []), attentionOf({}, 1), "token");
  const scores = Float32Array.from([8, 1, 1, 0, 4, -3, 2, 1, 1, 2, 3, 4, 0, 0, 5, 5].map((score) => score / 10));
  const of = (changes: Partial<typeof USUAL>) => shown(scores, rows, axis, { ...USUAL, ...changes });
  const drawn = (changes: Partial<typeof USUAL>) => [...of(changes).scores].map((score) => Math.round(10 * score));

  test("everything, without a copy", () => {
    expect(of({}).scores).toBe(scores);
    expect(of({}).most).toBeCloseTo(0.8);
    expect(hiddenOf([of({})])).toBe(0);
  });

  test("sinks are left out, and it is known how much they get, in all and from each row", () => {
    const found = of({ sinks: "hidden" });
    expect(found.rowShown).toEqual([false, true, true, true]);
    expect(hiddenOf([found])).toBeCloseTo((0.4 + 0.1) / 3);
    expect([...hiddenOfRows([found])].map((share) => Math.round(100 * share))).toEqual([0, 40, 10, 0]);
    expect(found.most).toBeCloseTo(0.5);
    expect(drawn({ sinks: "hidden" })).toEqual([0, 0, 0, 0, 0, -3, 2, 1, 0, 2, 3, 4, 0, 0, 5, 5]);
  });

  test("what is drawn and what is hidden add up to the row", () => {
    const { scores: left, totals, onSinks } = of({ sinks: "hidden" });
    for (const row of [1, 2, 3]) {
      const sum = left.subarray(4 * row, 4 * row + 4).reduce((all, one) => all + Math.abs(one), 0);
      expect(sum + onSinks[row]).toBeCloseTo(totals[row]);
    }
  });

  test("renormalised, what is left of each row adds up to 1, without signs", () => {
    const found = of({ sinks: "renormalised" });
    expect([...found.scores].slice(4, 8).map((score) => Number(score.toFixed(3)))).toEqual([0, -0.5, 0.333, 0.167]);
    expect(found.scores.slice(8, 12).reduce((sum, one) => sum + one, 0)).toBeCloseTo(1);
    expect(found.most).toBeCloseTo(0.5);
    expect(hiddenOf([found])).toBeCloseTo((0.4 + 0.1) / 3); // of what there was
    expect(drawn({ sinks: "renormalised", pairs: "ab" }).slice(4, 8)).toEqual([0, 0, 3, 2]); // other texts count all the same
  });

  test("from the first text to the second", () => {
    expect(drawn({ pairs: "ab" })).toEqual([0, 0, 1, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
  });

  test("the largest of each row, the first of several alike, whatever their sign", () => {
    expect(drawn({ top: 1 })).toEqual([8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 4, 0, 0, 5, 0]);
    expect(drawn({ top: 2 }).slice(4, 8)).toEqual([4, -3, 0, 0]);
  });

  test("none below a part of the largest", () => {
    expect(drawn({ least: 0.5 })).toEqual([8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 4, 0, 0, 5, 5]);
  });
});

describe("sinks", () => {
  const side = sideOf("The cat , the un ##real cat");
  const decoder = attentionOf({}, 1, { stack: "decoder" });
  const content = contentOf(side, [decoder], { sinks: { "decoder self": [true, false, true, false, true, false, false] } });
  const left = (level: "token" | "word") => {
    const { rows, columns } = axesWithin(content, decoder, level);
    return [rows.left, columns.left].map((one) => one.map(Number).join(""));
  };

  test("a word is one if a piece of it is; rows that see nothing else are left out in a causal attention", () => {
    expect(left("token")).toEqual(["0111111", "0101011"]);
    expect(left("word")).toEqual(["011111", "010101"]);
    const encoder = { ...decoder, stack: "encoder" };
    const both = axesWithin({ ...content, sinks: { "encoder self": content.sinks["decoder self"] } }, encoder, "token");
    expect(both.rows.left).not.toContain(false);
  });

  test("are hidden where a causal attention says nothing else, unless nothing or a kept token would not be left", () => {
    const usual = (changes: Partial<typeof USUAL>, one = content, attention = decoder) => usualSinks(one, attention, { ...USUAL, ...changes });
    expect([usual({}), usual({ keep: ["q1", "k3"] })]).toEqual(["hidden", "hidden"]);
    expect([usual({ keep: ["k2"] }), usual({ keep: ["q0"] }), usual({ level: "word", keep: ["k4"] })]).toEqual(["shown", "shown", "shown"]);
    expect(usual({}, { ...content, sinks: { "decoder self": side.tokens.map(() => true) } })).toBe("shown");
    expect(usual({}, content, { ...decoder, kind: "cross" })).toBe("shown");
  });

  test("have names", () => {
    expect(sinksNamed(content, decoder)).toEqual(["The (0)", ", (2)", "un (4)"]);
    expect(hasSinks(content, decoder)).toBe(true);
    const plain = contentOf(sideOf("a b"), [attentionOf({}, 1)]);
    expect(hasSinks(plain, plain.attentions[0])).toBe(false);
  });
});

describe("scores from bytes", () => {
  const writer = new Writer();
  const levels = writer.levels([0, 255, 51, 102, 0, 0, 0, 255], [2, 2, 2]);
  const steps = writer.floats([1 / 255, 1 / 255, 0.01, 0.02], [2, 2]);
  const zeros = writer.levels([0, 5], [2]);
  const factor = writer.floats([2, 3, 4, 5], [2, 2]);
  const joint = writer.floats([1, 2, 3, 4], [1, 2, 2]);
  const attention = attentionOf(
    {
      weight: { form: "levels", at: levels, steps, zeros },
      norm: { form: "product", of: "weight", factor },
      effective: { form: "same", of: "weight" },
      joint_norm: { form: "floats", at: joint },
    },
    2,
    { value_norm: factor },
  );
  const load = () => Scores.load(attention, writer.chunks, 2, 2);
  const near = (found: Float32Array, right: number[]) => {
    expect([...found].map((one) => Number(one.toFixed(5)))).toEqual(right);
  };

  test("(level - zero) * step, a step for each key", async () => {
    near((await load()).head("weight", 0), [0, 1, 0.2, 0.4]);
    near((await load()).head("weight", 1), [-0.05, -0.1, -0.05, 5]);
  });

  test("products and copies take none of their own", async () => {
    near((await load()).head("norm", 0), [0, 3, 0.4, 1.2]);
    near((await load()).head("effective", 0), [0, 1, 0.2, 0.4]);
    near((await load()).valueNorm(1) as Float32Array, [4, 5]);
  });

  test("all heads share a joint map, and what is missing is nothing", async () => {
    const scores = await load();
    expect(scores.head("joint_norm", 1)).toEqual(scores.head("joint_norm", 0));
    expect([...scores.head("unknown", 0)]).toEqual([0, 0, 0, 0]);
    const content = contentOf(sideOf("a b"), [attention]);
    expect(["weight", "joint_norm"].map((name) => isJoint(content, attention, name))).toEqual([false, true]);
  });
});

test("vectors: heads of one group share their keys", async () => {
  const writer = new Writer();
  const queries = writer.levels([1, 2, 3, 4, 255, 254, 253, 252], [2, 2, 2], "i1");
  const steps = writer.floats([0.5, 2], [2, 1]);
  const keys = writer.floats([1, 2, 3, 4], [1, 2, 2]);
  const neurons = { queries: { form: "levels" as const, at: queries, steps }, keys: { form: "floats" as const, at: keys }, scaling: 1, exact: true, why: "" };
  const attention = attentionOf({ weight: { form: "floats", at: writer.floats(new Array(8).fill(0.5), [2, 2, 2]) } }, 2, { neurons });
  const scores = await Scores.load(attention, writer.chunks, 2, 2);
  expect([...scores.queryVectors(0)]).toEqual([0.5, 1, 1.5, 2]);
  expect([...scores.queryVectors(1)]).toEqual([-2, -4, -6, -8]); // signed bytes
  expect(scores.keyVectors(1)).toEqual(scores.keyVectors(0));
});

test("names of heads and kinds of attention", async () => {
  const { content } = await textOf(sideOf("a"), [1], [1]);
  const cross = { ...content.attentions[0], stack: "decoder", kind: "cross", layer: 3 };
  expect(headName(cross, 1)).toBe("decoder cross 3.1");
  expect(groupsOf({ ...content, attentions: [...content.attentions, cross, cross] })).toEqual(["encoder self", "decoder cross"]);
});

test("layers are those of each stack, whatever attentions they have", () => {
  const six = [0, 1, 2, 3, 4, 5];
  expect(layersSaid([{ stack: "encoder", layers: six }])).toBe("6 layers");
  expect(layersSaid([{ stack: "decoder", layers: [3] }])).toBe("1 layer");
  const translator = [{ stack: "encoder", layers: six }, { stack: "decoder", layers: six }, { stack: "decoder", layers: six }];
  expect(layersSaid(translator)).toBe("6 + 6 layers (encoder, decoder)");
});
