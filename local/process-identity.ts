import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Returns what distinguishes a running process from a later one with the same id: the time of its start. Undefined if
 * the system does not report it (Windows), and for an id without a process.
 */
export function readProcessIdentity(pid: number): string | undefined {
  return process.platform === 'linux' ? readLinuxIdentity(pid) : readStartTime(pid);
}

/**
 * The boot, and the start in clock ticks since then. The name of the program is in parentheses and can contain spaces.
 * @see https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
 */
function readLinuxIdentity(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const startTicks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${startTicks}`;
  } catch {
    return undefined;
  }
}

function readStartTime(pid: number): string | undefined {
  if (process.platform === 'win32') return undefined;
  const { stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', timeout: 5_000 });
  return stdout?.trim() || undefined;
}
