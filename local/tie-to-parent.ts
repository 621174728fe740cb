import { type ChildProcess, spawn } from 'node:child_process';

/** Terminates the child and deletes its temporary folder when this process ends, even if this process is killed. */
export function killWithParent(child: ChildProcess, folder = ''): { release(): void } {
  if (child.pid === undefined) return { release: () => {} };
  // The pipe closes with this process. Its own process group protects the watchdog from Ctrl-C. The end of
  // the child needs only commands of the shell itself.
  const script = 'read -r line; kill "$0" 2>/dev/null; [ -z "$1" ] || rm -rf "$1"';
  const watchdog = spawn('sh', ['-c', script, String(child.pid), folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  // Without a shell (Windows), only a regular shutdown terminates the child.
  watchdog.on('error', () => {});
  watchdog.unref();
  if ('unref' in watchdog.stdin && typeof watchdog.stdin.unref === 'function') watchdog.stdin.unref();
  return {
    release: () => {
      watchdog.stdin.end();
    },
  };
}
