import { type ChildProcess, spawn } from 'node:child_process';

/** Terminates the child when this process ends, even if this process is killed. */
export function killWithParent(child: ChildProcess): { release(): void } {
  if (child.pid === undefined) return { release: () => {} };
  // The pipe closes with this process. Its own process group protects the watchdog from Ctrl-C. Only commands of the
  // shell itself.
  const watchdog = spawn('sh', ['-c', `read -r line; kill ${child.pid} 2>/dev/null`], {
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
