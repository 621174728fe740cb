import { useEffect, useRef } from 'preact/hooks';

interface PollingOptions {
  /** The interval is the minimum again whenever this value changes. */
  readonly revision: string;
  /** First interval. Each later one is half as long again, up to the maximum. */
  readonly minMs: number;
  readonly maxMs: number;
}

/**
 * Calls `run` again and again while the tab is visible, less often while nothing changes, and immediately when the tab
 * becomes visible again.
 */
export function usePolling(run: () => void, { revision, minMs, maxMs }: PollingOptions): void {
  const latestRun = useRef(run);
  latestRun.current = run;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let intervalMs = minMs;
    const schedule = () => {
      clearTimeout(timer);
      if (document.visibilityState !== 'visible') return;
      timer = setTimeout(() => {
        latestRun.current();
        intervalMs = Math.min(intervalMs * 1.5, maxMs);
        schedule();
      }, intervalMs);
    };
    const handleVisibility = () => {
      if (document.visibilityState === 'visible') latestRun.current();
      intervalMs = minMs;
      schedule();
    };
    schedule();
    document.addEventListener('visibilitychange', handleVisibility);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', handleVisibility);
    };
  }, [revision, minMs, maxMs]);
}
