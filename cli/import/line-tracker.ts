import type { Line } from './read-lines.ts';

/** Records the end of each line of the rows in progress. */
export function createLineTracker(source: AsyncIterable<Line>) {
  const ends = new Map<number, number>();
  async function* trackLines(): AsyncGenerator<Line> {
    for await (const line of source) {
      ends.set(line.number, line.endByte);
      yield line;
    }
  }
  /** Returns the bytes up to the line, and drops the earlier lines. */
  const finish = (line: number): number => {
    const bytes = ends.get(line) ?? 0;
    for (const number of ends.keys()) {
      if (number >= line) break;
      ends.delete(number);
    }
    return bytes;
  };
  return { lines: trackLines(), finish };
}
