import { type ChildProcess, spawn } from 'node:child_process';

/** Has the child end when this process ends, however it ends: even killed, it leaves nothing running. */
export function killWithParent(child: ChildProcess): { release(): void } {
  if (child.pid === undefined) return { release: () => {} };
  // The pipe closes with this process; a group of its own keeps Ctrl-C from ending the guard before us.
  const watchdog = spawn('sh', ['-c', `cat >/dev/null; kill ${child.pid} 2>/dev/null`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  // Without a shell (Windows) only an orderly stop ends the child.
  watchdog.on('error', () => {});
  watchdog.unref();
  if ('unref' in watchdog.stdin && typeof watchdog.stdin.unref === 'function') watchdog.stdin.unref();
  return {
    release: () => {
      watchdog.stdin.end();
    },
  };
}
