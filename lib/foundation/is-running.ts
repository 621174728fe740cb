/** Whether a process of this machine runs. False for a value that cannot be the id of one process, such as 0. */
export function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // A process of a different user exists, but does not accept the signal.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
