import { existsSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { projectFolder, sourceMapsFolder } from './build-functions.ts';

/** `file:///var/task/chunks/chunk-4XIWBDSL.mjs:12:345`: a bundle is in a folder of its area, a shared chunk in `chunks`. */
const bundlePosition = /(?:file:\/\/)?[^\s()"'`]*?\/([\w-]+\/[\w.-]+\.mjs):(\d+):(\d+)/g;

/**
 * Replaces the positions of bundles in a stack trace, or in a log line that contains one, by positions in the source.
 * Positions of a bundle without a source map stay as they are.
 */
export function resolveStackTrace(trace: string, folder = sourceMapsFolder): string {
  return trace.replaceAll(bundlePosition, (position, bundle: string, line: string, column: string) => {
    const file = join(folder, `${bundle}.map`);
    if (!existsSync(file)) return position;
    const map = new SourceMap(JSON.parse(readFileSync(file, 'utf8')) as SourceMapPayload);
    const origin = map.findOrigin(Number(line), Number(column));
    if (!('fileName' in origin)) return position;
    const source = relative(projectFolder, resolve(dirname(file), origin.fileName));
    return `${source}:${origin.lineNumber}:${origin.columnNumber}`;
  });
}

/** Reads a stack trace from the standard input. A log contains the line breaks of a stack trace as `\n`. */
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (!existsSync(sourceMapsFolder)) throw new Error('The source maps are not found. Run npm run build.');
  const trace = (await text(process.stdin)).replaceAll('\\n', '\n');
  process.stdout.write(resolveStackTrace(trace));
}
