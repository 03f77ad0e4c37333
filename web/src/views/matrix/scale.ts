// How dark a score is drawn: as a part of the largest, of its row's own largest, or by powers of ten.
import type { Scale } from "../../schema";

export const DECADES = 3; // powers of ten of the logarithmic scale: what is smaller is drawn as nothing

/** (row, column) -> from -1 to 1, as in Python (src/headscope/views/print/matrix.py); on the linear scale as they are. */
export function onScale(scores: Float32Array, width: number, most: number, scale: Scale): Float32Array {
  if (scale === "linear") return scores; // 16.7 million of them in a map of 4,096 tokens: nothing is copied
  const drawn = new Float32Array(scores.length);
  for (let start = 0; start < scores.length; start += width) {
    const row = scores.subarray(start, start + width);
    let largest = most;
    if (scale === "row") {
      largest = 0;
      for (const score of row) largest = Math.max(largest, Math.abs(score));
    }
    if (largest === 0) continue;
    for (let column = 0; column < width; column++) {
      const part = Math.abs(row[column]) / largest;
      const dark = scale === "row" || part === 0 ? part : Math.max(0, 1 + Math.log10(part) / DECADES);
      drawn[start + column] = Math.sign(row[column]) * dark;
    }
  }
  return drawn;
}
