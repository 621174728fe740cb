import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from '@jest/globals';

/** A folder of its own below `money`: it calls the central bank, and `money` is pure. */
const exchangeRates = 'money/exchange-rates';

/** The folder that a file of `lib` belongs to. `deps.ts` composes all of them and is not part of any. */
function toFolder(file: string): string | undefined {
  if (file.startsWith(`${exchangeRates}/`)) return exchangeRates;
  const [folder, ...rest] = file.split('/');
  return rest.length > 0 ? folder : undefined;
}

const files = readdirSync('lib', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

/** Relative imports of a file of `lib`, types included. */
function listImports(file: string): string[] {
  const source = readFileSync(join('lib', file), 'utf8');
  return [...source.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, path = '']) =>
    normalize(join(dirname(file), path)),
  );
}

/** The folders that each folder of `lib` imports. */
function buildFolderGraph(): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>();
  for (const file of files) {
    const from = toFolder(file);
    if (from === undefined) continue;
    const targets = graph.get(from) ?? graph.set(from, new Set()).get(from);
    for (const path of listImports(file)) {
      const to = toFolder(path);
      if (to !== undefined && to !== from) targets?.add(to);
    }
  }
  return graph;
}

/** Finds a path from a folder back to itself. */
function findCycle(graph: ReadonlyMap<string, ReadonlySet<string>>, path: readonly string[]): readonly string[] {
  for (const next of graph.get(path.at(-1) ?? '') ?? []) {
    if (next === path[0]) return [...path, next];
    const cycle = path.includes(next) ? [] : findCycle(graph, [...path, next]);
    if (cycle.length > 0) return cycle;
  }
  return [];
}

describe('imports of lib', () => {
  it('contain no cycle between folders', () => {
    const graph = buildFolderGraph();
    expect(graph.size).toBeGreaterThan(10);
    const cycles = [...graph.keys()].map((folder) => findCycle(graph, [folder]).join(' → '));
    expect(cycles.filter((cycle) => cycle !== '')).toEqual([]);
  });

  it('stay within an adapter', () => {
    const toAdapter = (file: string) => /^stores\/([^/]+)\//.exec(file)?.[1];
    const foreign = files.flatMap((file) =>
      listImports(file)
        .filter((path) => toAdapter(file) && toAdapter(path) && toAdapter(path) !== toAdapter(file))
        .map((path) => `${file} → ${path}`),
    );
    expect(foreign).toEqual([]);
  });
});
