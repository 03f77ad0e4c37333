// What the live page asks of the server, and how patiently.
import { describe, expect, test, vi } from "vitest";
import { Refusal } from "../src/live/api";
import { askedOf, isAnswered, moreMeasures, requestOf, together } from "../src/live/asked";
import { goneOf, likelyWithout, wayOf, wordsChanged } from "../src/live/changes";
import { examplesFor } from "../src/live/examples";
import { changed, inAddress, outOf, piecesOf, shortName } from "../src/live/out";
import { patiently } from "../src/live/patience";
import { predictionOf, withGuess, withMask } from "../src/live/predicting";
import { type ModelInfo, USUAL } from "../src/schema";

const measure = (name: string, usual: boolean) => ({ name, title: name, about: "", joint: false, signed: false, usual });
const MODEL: ModelInfo = {
  name: "tiny", architecture: "Bert", layers: 2, heads: 4, attentions: [], encoder_decoder: false, max_tokens: 8,
  measures: [measure("weight", true), measure("norm", true), measure("effective", false), measure("block_norm", false)],
  predicts: null, mask: null, compares: true, means: false,
};
const TEXTS = { text: "a cat", pair: " ", target: "un chat" };

describe("what is asked", () => {
  test("no text, no question", () => {
    expect(askedOf({ ...TEXTS, text: "  " }, MODEL, false, USUAL)).toBeNull();
  });

  test("only what the model takes, and only what is not the usual", () => {
    const asked = askedOf(TEXTS, MODEL, false, USUAL);
    expect(asked && requestOf(asked, MODEL)).toEqual({ model: "tiny", text: "a cat" });
    const translated = askedOf(TEXTS, { ...MODEL, encoder_decoder: true }, true, { ...USUAL, view: "neuron" });
    expect(translated && requestOf(translated, MODEL)).toEqual({ model: "tiny", text: "a cat", target: "un chat", neurons: true, truncate: true });
  });

  test("another measure comes beside the usual ones", () => {
    expect(moreMeasures(MODEL).map(({ name }) => name)).toEqual(["effective", "block_norm"]);
    const asked = askedOf(TEXTS, MODEL, false, { ...USUAL, compare: "effective" });
    expect(asked && requestOf(asked, MODEL).measures).toEqual(["weight", "norm", "effective"]);
  });

  test("what was fetched once for a text stays", () => {
    const [usual, effective] = [askedOf(TEXTS, MODEL, false, USUAL), askedOf(TEXTS, MODEL, false, { ...USUAL, measure: "effective" })];
    const other = askedOf({ ...TEXTS, text: "a dog" }, MODEL, false, USUAL);
    if (!usual || !effective || !other) throw new Error("there is a text");
    expect(together(usual, effective).extra).toEqual(["effective"]);
    expect(together(other, effective).extra).toEqual([]);
    expect([isAnswered(usual, effective), isAnswered(effective, usual), isAnswered(other, usual)]).toEqual([true, false, false]);
  });
});

test("a busy server is asked again when it says so, and what else it says is said", async () => {
  vi.useFakeTimers();
  const notes: string[] = [];
  const ask = vi.fn().mockRejectedValueOnce(new Refusal(503, "busy", 3)).mockResolvedValueOnce("answer");
  const answer = patiently<string>(ask, new AbortController().signal, (note) => notes.push(note));
  await vi.advanceTimersByTimeAsync(2900);
  expect(ask).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(200);
  expect(await answer).toBe("answer");
  expect(notes).toEqual(["The server is busy: asking again in 3 s.", ""]);
  await expect(patiently(() => Promise.reject(new Refusal(422, "too long", null)), new AbortController().signal, () => undefined)).rejects.toThrow("too long");
  vi.useRealTimers();
});

describe("what is predicted", () => {
  test("only what a model needs is sent, and never the target", () => {
    expect(predictionOf({ ...TEXTS, text: " " }, MODEL, false, "")).toBeNull();
    expect(predictionOf({ ...TEXTS, pair: "a dog" }, MODEL, true, "two dogs")).toEqual({
      model: "tiny", text: "a cat", pair: "a dog", beside: "two dogs", truncate: true,
    });
    expect(predictionOf({ ...TEXTS, pair: "a dog" }, { ...MODEL, encoder_decoder: true, compares: false }, false, "two dogs")).toEqual({
      model: "tiny", text: "a cat",
    });
  });

  test("a guess is read in its place", () => {
    const guess = { token: "dog", probability: 0.5, reads: "a dog", without: null };
    expect(withGuess(TEXTS, "text", guess)).toEqual({ ...TEXTS, text: "a dog" });
    expect(withGuess(TEXTS, "pair", guess)).toEqual({ ...TEXTS, pair: "a dog" });
  });

  test("a word is hidden: the middle one of the longest", () => {
    expect(withMask("The keys, on the table.", "[MASK]")).toBe("The keys, on the [MASK].");
    expect(withMask("E V Q L V", "[MASK]")).toBe("E V [MASK] L V");
    expect(withMask("🙂 !", "[MASK]")).toBe("🙂 !");
    expect(withMask("🙂 naïve 🙂", "<mask>")).toBe("🙂 <mask> 🙂");
  });

  test("examples have what the model is there for", () => {
    const texts = (changes: Partial<ModelInfo>) => examplesFor({ ...MODEL, ...changes }, false).map(({ text }) => text);
    expect(texts({ predicts: "next" })[0]).toMatch(/ to$/);
    expect(texts({ predicts: "masked", mask: "<mask>" })[0]).toContain("<mask>");
    expect(examplesFor({ ...MODEL, encoder_decoder: true, predicts: "target" }, false).some(({ target }) => target === "")).toBe(true);
  });
});

describe("heads that are out", () => {
  const self = { stack: "encoder" as const, kind: "self" as const, layers: [0, 2], heads: [4, 2] };
  const one = { ...MODEL, attentions: [self] };

  test("an address names them, and those that the model has not are left out", () => {
    expect(inAddress(["encoder self 0.3"])).toEqual(["encoder-self-0.3"]);
    const asked = ["encoder-self-0.3", "encoder-self-2.3", "encoder-self-1.0", "decoder-cross-0.0", "encoder-self-2.1", "encoder-self-0.3"];
    expect(outOf(asked, "mean", one)).toEqual({ heads: ["encoder self 0.3", "encoder self 2.1"], how: "zero" });
    expect(outOf([], "mean", { ...one, means: true }).how).toBe("mean");
  });

  test("they are taken out and put back, in the order in which they went", () => {
    expect(changed(["a", "b"], ["c", "a"], true)).toEqual(["b", "c", "a"]);
    expect(changed(["a", "b"], ["c", "a"], false)).toEqual(["b"]);
    expect(shortName("encoder self 0.3", one)).toBe("0.3");
    const heads = ["encoder self 2.0", "encoder self 0.3", "encoder self 2.1"];
    expect(piecesOf(heads, one)).toEqual([{ name: "layer 2", heads: [heads[0], heads[2]] }, { name: "0.3", heads: [heads[1]] }]);
    const two = { ...one, attentions: [self, { ...self, kind: "cross" as const }] };
    expect(piecesOf([heads[0], heads[2]], two).map(({ name }) => name)).toEqual(["encoder self layer 2"]);
    expect(shortName("encoder self 0.3", { ...one, attentions: [self, { ...self, kind: "cross" }] })).toBe("encoder self 0.3");
  });

  test("requests name them only where some are out, and a picture is asked for anew only where it is without them", () => {
    const out = { heads: ["encoder self 0.3"], how: "mean" as const };
    expect(predictionOf(TEXTS, MODEL, false, "", out)).toEqual({ model: "tiny", text: "a cat", without: out.heads, how: "mean" });
    expect(predictionOf(TEXTS, MODEL, false, "", { heads: [], how: "mean" })).toEqual({ model: "tiny", text: "a cat" });
    const [whole, without] = [askedOf(TEXTS, MODEL, false, USUAL), askedOf(TEXTS, MODEL, false, USUAL, out)];
    if (!whole || !without) throw new Error("there is a text");
    expect(requestOf(without, MODEL)).toEqual({ model: "tiny", text: "a cat", without: out.heads, how: "mean" });
    expect([isAnswered(without, whole), isAnswered(whole, without), isAnswered(without, without)]).toEqual([false, false, true]);
  });

  test("the five likeliest without them, and who is gone", () => {
    const share = [[0.5, 0.1], [0.2, 0.01], [0.1, 0.3], [0.05, 0.05], [0.02, 0.02], [0.001, 0.4]];
    const guesses = share.map(([probability, without], place) => ({ token: "abcdef"[place], probability, reads: "", without }));
    const gap = { segment: "text" as const, position: 3, guesses, kl: 0.5 };
    expect(likelyWithout(gap).map(({ token }) => token).join("")).toBe("fcade");
    expect(goneOf(gap).map(({ token }) => token)).toEqual(["b"]);
    expect([wayOf("50%", "10%", -0.4), wayOf("1%", "2%", 0.01), wayOf("1%", "1%", 0.0001)]).toEqual(["less", "more", "same"]);
  });

  test("what is written, word by word", () => {
    const said = (from: string, to: string) => wordsChanged(from, to).map(({ word, change }) => ({ "": word, new: `+${word}`, gone: `-${word}` })[change]).join(" ");
    expect(said("the white house", "the house is white")).toBe("the -white house +is +white");
    expect(said("a b", "a b")).toBe("a b");
    expect(said("", "a")).toBe("+a");
    expect(said("a", "")).toBe("-a");
  });
});
