import { readFileSync } from 'node:fs';
import type { Profiler } from 'node:inspector';
import { fileURLToPath } from 'node:url';

/** Processor time of the service by the code that runs. */
const profileParts = [
  'handlers',
  'AWS SDK',
  'other packages',
  'local runtime',
  'emulated stores',
  'sockets',
  'garbage collection',
  'Node',
] as const;
export type ProfilePart = (typeof profileParts)[number];

/** Returns the milliseconds that each part takes in the profiles of all threads. */
export function sumProfileParts(profiles: readonly Profiler.Profile[]): Record<ProfilePart, number> {
  const findModule = createModuleFinder();
  const sums = Object.fromEntries(profileParts.map((part) => [part, 0])) as Record<ProfilePart, number>;
  for (const { nodes, samples = [], timeDeltas = [] } of profiles) {
    const parts = new Map(nodes.map(({ id, callFrame }) => [id, toPart(callFrame, findModule)]));
    for (const [index, id] of samples.entries()) {
      const part = parts.get(id);
      if (part) sums[part] += (timeDeltas[index] ?? 0) / 1000;
    }
  }
  return sums;
}

/** Returns undefined for a thread that waits. */
function toPart(
  { functionName, url, lineNumber }: Profiler.ProfileNode['callFrame'],
  findModule: (url: string, line: number) => string,
): ProfilePart | undefined {
  if (functionName === '(idle)') return undefined;
  if (functionName === '(garbage collector)') return 'garbage collection';
  if (isSocketCode(functionName, url)) return 'sockets';
  const module = findModule(url, lineNumber);
  if (/node_modules\/(@aws-sdk|@smithy|@aws)\//.test(module)) return 'AWS SDK';
  if (module.includes('node_modules/')) return 'other packages';
  if (/(^|\/)(lib|functions)\//.test(module)) return 'handlers';
  if (/(^|\/)emulator\//.test(module)) return 'emulated stores';
  return /(^|\/)(local|infra)\//.test(module) ? 'local runtime' : 'Node';
}

/** Native functions of a socket have no URL. */
const isSocketCode = (functionName: string, url: string): boolean =>
  url === ''
    ? /^(writev|write\w+String|writeBuffer|connect|readStart)$/.test(functionName)
    : /^node:(_http_|net$|internal\/(http|net|stream_base_commons)$)/.test(url);

/** Finds the module of a line: a bundle has the path of each module as a comment before it. */
function createModuleFinder(): (url: string, line: number) => string {
  const modules = new Map<string, readonly (string | undefined)[]>();
  return (url, line) => {
    const path = url.startsWith('file:') ? fileURLToPath(url) : url;
    if (!path.endsWith('.mjs')) return path;
    const known = modules.get(path) ?? readModules(path);
    modules.set(path, known);
    return known[line] ?? path;
  };
}

/** Returns the module of each line of a bundle. */
function readModules(path: string): (string | undefined)[] {
  let module: string | undefined;
  return readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => {
      module = /^\/\/ (\S+\.[cm]?[jt]sx?)$/.exec(line)?.[1] ?? module;
      return module;
    });
}
