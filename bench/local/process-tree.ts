import { readdirSync, readFileSync } from 'node:fs';

/** Processor time and resident memory of a process with its children. */
export interface ProcessUsage {
  /** User and system time, including that of children that have ended. */
  readonly cpuSeconds: number;
  /** The part of the main thread of the process. */
  readonly mainThreadSeconds: number;
  /** The part of its children. */
  readonly childrenSeconds: number;
  readonly memoryMb: number;
}

/** Linux counts processor time in these units on each architecture that Node supports. */
const ticksPerSecond = 100;

interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly cpuSeconds: number;
}

/** Reads the usage of a process and of all processes that it has started. Linux only. */
export function readProcessUsage(root: number): ProcessUsage {
  const processes = listProcesses();
  const ids = new Set([root]);
  for (const id of ids) for (const { pid, parent } of processes) if (parent === id) ids.add(pid);
  const tree = processes.filter(({ pid }) => ids.has(pid));
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const [mainThread] = parseStat(root, readOptional(`/proc/${root}/task/${root}/stat`));
  return {
    cpuSeconds: sum(tree.map(({ cpuSeconds }) => cpuSeconds)),
    mainThreadSeconds: mainThread?.cpuSeconds ?? 0,
    childrenSeconds: sum(tree.filter(({ pid }) => pid !== root).map(({ cpuSeconds }) => cpuSeconds)),
    memoryMb: sum(tree.map(({ pid }) => readMemoryMb(pid))),
  };
}

const listProcesses = (): readonly ProcessEntry[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => parseStat(Number(name), readOptional(`/proc/${name}/stat`)));

/** @see https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function parseStat(pid: number, stat: string | undefined): ProcessEntry[] {
  if (stat === undefined) return [];
  // The name before the last parenthesis can contain spaces. After it: state, parent, ..., and four times of the
  // processor, and the last two belong to children that have ended.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields.slice(11, 15).map(Number);
  return [
    { pid, parent: Number(fields[1]), cpuSeconds: (user + system + childrenUser + childrenSystem) / ticksPerSecond },
  ];
}

function readMemoryMb(pid: number): number {
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readOptional(`/proc/${pid}/status`) ?? '') ?? [];
  return Number(kilobytes) / 1024;
}

/** Returns undefined if the process has ended. */
function readOptional(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
