import { type ChildProcess, spawn } from 'node:child_process';

/** Has the child end when this process ends, however it ends: even killed, it leaves nothing running. */
export function endWithThisProcess(child: ChildProcess): { release(): void } {
  if (child.pid === undefined) return { release: () => {} };
  // The pipe closes with this process; a group of its own keeps Ctrl-C from ending the guard before us.
  const guard = spawn('sh', ['-c', `cat >/dev/null; kill ${child.pid} 2>/dev/null`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  // Without a shell (Windows) only an orderly stop ends the child.
  guard.on('error', () => {});
  guard.unref();
  if ('unref' in guard.stdin && typeof guard.stdin.unref === 'function') guard.stdin.unref();
  return {
    release: () => {
      guard.stdin.end();
    },
  };
}
