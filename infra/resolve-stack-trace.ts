import { existsSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { sourceMapsFolder } from './build-functions.ts';

/** `file:///var/task/main-4XIWBDSL.mjs:12:345`. The name of a chunk contains a hash of its content. */
const chunkPosition = /(?:file:\/\/)?[^\s()"'`]*?\/([\w.-]+\.mjs):(\d+):(\d+)/g;

/**
 * Replaces the positions of chunks in a stack trace, or in a log line that contains one, by positions in the source.
 * Positions of a chunk without a source map stay as they are.
 */
export function resolveStackTrace(trace: string, folder = sourceMapsFolder): string {
  return trace.replaceAll(chunkPosition, (position, chunk: string, line: string, column: string) => {
    const file = join(folder, `${chunk}.map`);
    if (!existsSync(file)) return position;
    const map = new SourceMap(JSON.parse(readFileSync(file, 'utf8')) as SourceMapPayload);
    const origin = map.findOrigin(Number(line), Number(column));
    if (!('fileName' in origin)) return position;
    return `${origin.fileName}:${origin.lineNumber}:${origin.columnNumber}`;
  });
}

/** Reads a stack trace from the standard input. A log contains the line breaks of a stack trace as `\n`. */
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (!existsSync(sourceMapsFolder)) throw new Error('The source maps are not found. Run npm run build.');
  const trace = (await text(process.stdin)).replaceAll('\\n', '\n');
  process.stdout.write(resolveStackTrace(trace));
}
