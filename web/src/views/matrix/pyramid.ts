// A map and smaller ones of it, each half as wide and high: of every four scores the largest without its sign. So a map of
// 4,096 tokens is drawn as fast as one of 512, and a single high score is never lost between two pixels.

interface Level {
  scores: Float32Array;
  rows: number;
  columns: number;
}

export class Pyramid {
  private readonly levels: Level[];

  constructor(scores: Float32Array, rows: number, columns: number) {
    this.levels = [{ scores, rows, columns }];
  }

  get rows(): number {
    return this.levels[0].rows;
  }

  get columns(): number {
    return this.levels[0].columns;
  }

  /** The map whose scores each stand for 2^level x 2^level; it is made when it is first asked for. */
  level(level: number): Level {
    while (this.levels.length <= level) this.levels.push(halved(this.levels[this.levels.length - 1]));
    return this.levels[level];
  }
}

function halved({ scores, rows, columns }: Level): Level {
  const [high, wide] = [Math.ceil(rows / 2), Math.ceil(columns / 2)];
  const largest = new Float32Array(high * wide);
  for (let row = 0; row < rows; row++) {
    const start = (row >> 1) * wide;
    for (let column = 0, i = row * columns; column < columns; column++, i++) {
      const at = start + (column >> 1);
      if (Math.abs(scores[i]) > Math.abs(largest[at])) largest[at] = scores[i];
    }
  }
  return { scores: largest, rows: high, columns: wide };
}
