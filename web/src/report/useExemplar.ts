// The scores of an exemplar, which lie compressed in it until they are looked at.
import { useEffect, useMemo, useState } from "preact/hooks";
import { Chunks } from "../data/chunks";
import { Scores } from "../data/scores";
import type { DrawnExemplar } from "../schema";

/** Its chunks, as a view takes them; and its one head's scores (query, key), null until they are unpacked. */
export function useExemplar(exemplar: DrawnExemplar): { chunks: Chunks; scores: Float32Array | null } {
  const chunks = useMemo(() => new Chunks((chunk) => exemplar.chunks[chunk] ?? ""), [exemplar]);
  const [loaded, setLoaded] = useState<{ chunks: Chunks; scores: Float32Array } | null>(null);
  useEffect(() => {
    let wanted = true;
    const { attentions, sides, measures } = exemplar.content;
    const [attention] = attentions;
    const lengths = [sides[attention.query].tokens.length, sides[attention.key].tokens.length] as const;
    void Scores.load(attention, chunks, ...lengths).then((scores) => {
      if (wanted) setLoaded({ chunks, scores: scores.head(measures[0].name, 0) });
    });
    return () => {
      wanted = false;
    };
  }, [exemplar, chunks]);
  return { chunks, scores: loaded?.chunks === chunks ? loaded.scores : null };
}
