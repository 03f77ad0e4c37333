// What changes where heads are taken out, in the answer to one question.
import type { Gap, Guess } from "../schema";

const GUESSES = 5; // as many as the server gives of the whole model

/** The likeliest without the heads that are out, the first first. */
export function likelyWithout(gap: Gap): Guess[] {
  return [...gap.guesses].sort((one, other) => (other.without ?? 0) - (one.without ?? 0)).slice(0, GUESSES);
}

/** Those of the five likeliest of the whole model that are not among the five any more. */
export function goneOf(gap: Gap): Guess[] {
  const now = likelyWithout(gap);
  return gap.guesses.slice(0, GUESSES).filter((guess) => !now.includes(guess));
}

/** What reads the same has not changed. */
export function wayOf(from: string, to: string, by: number): "more" | "less" | "same" {
  return from === to ? "same" : by > 0 ? "more" : "less";
}

export interface Word {
  word: string;
  change: "" | "new" | "gone";
}

/** Two texts as one: the longest words that both have in the same order, and between them what is gone and what is new. */
export function wordsChanged(from: string, to: string): Word[] {
  const [a, b] = [from, to].map((text) => text.split(/\s+/).filter(Boolean));
  const common = a.map(() => new Uint16Array(b.length + 1));
  common.push(new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const words: Word[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      words.push({ word: b[j], change: "" });
      i++;
      j++;
    } else if (i < a.length && (j === b.length || common[i + 1][j] >= common[i][j + 1])) {
      words.push({ word: a[i], change: "gone" });
      i++;
    } else {
      words.push({ word: b[j], change: "new" });
      j++;
    }
  }
  return words;
}
