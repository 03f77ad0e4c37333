// One text and the server's answer to it: a newer question cancels the older, and the old picture stays until then.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { Chunks } from "../data/chunks";
import type { Content, ModelInfo } from "../schema";
import { read } from "./api";
import { type Asked, isAnswered, requestOf, together } from "./asked";
import { patiently } from "./patience";

export interface Answer {
  number: number; // of the answers to this reader, from 1
  asked: Asked;
  content: Content;
  chunks: Chunks;
}

export interface Reading {
  answer: Answer | null; // the last, also while the next is awaited
  waiting: boolean;
  note: string; // why it takes longer
  problem: Error | null; // a refusal, or a server that is gone
}

const NOTHING: Reading = { answer: null, waiting: false, note: "", problem: null };

/** The reading, and a way to ask again after a problem. */
export function useReading(asked: Asked | null, model: ModelInfo): [Reading, () => void] {
  const [reading, setReading] = useState<Reading>(NOTHING);
  const [attempt, setAttempt] = useState(0);
  const answered = useRef<Asked | null>(null);
  const wanted = asked && together(asked, answered.current);
  useEffect(() => {
    if (!wanted) {
      answered.current = null;
      setReading(NOTHING);
      return undefined;
    }
    if (answered.current && isAnswered(wanted, answered.current)) {
      setReading((before) => ({ ...before, waiting: false, note: "", problem: null }));
      return undefined;
    }
    const controller = new AbortController();
    const { signal } = controller;
    const note = (sentence: string) => setReading((before) => ({ ...before, note: sentence }));
    setReading((before) => ({ ...before, waiting: true, note: "", problem: null }));
    patiently(() => read(requestOf(wanted, model), signal), signal, note).then(
      ({ description, chunks }) => {
        if (signal.aborted) return;
        performance.mark("headscope:answered");
        answered.current = wanted;
        const found = { asked: wanted, content: description, chunks: new Chunks((chunk) => chunks[chunk]) };
        setReading(({ answer }) => ({ ...NOTHING, answer: { number: (answer?.number ?? 0) + 1, ...found } }));
      },
      (problem: Error) => {
        if (!signal.aborted) setReading((before) => ({ ...before, waiting: false, note: "", problem }));
      },
    );
    return () => controller.abort();
  }, [wanted && JSON.stringify(wanted), attempt]);
  const again = useCallback(() => setAttempt((before) => before + 1), []);
  return [reading, again];
}
