import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Contract, ContractResponse } from '../../lib/api/contract.ts';
import { useChange } from '../use-change.ts';
import { callApi, type Endpoint, type EndpointRequest } from './client.ts';

/**
 * State of a request. `data` stays while it is requested again, and while another request is made, so that the page
 * does not jump. If the other request fails, there is no data.
 */
export interface Loaded<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  /** Whether `data` is the response to a former request, for example for a different page or period. */
  readonly isStale: boolean;
  /** Requests the data again. */
  readonly reload: () => void;
}

/** `undefined` while it is loading. A function computes it from the data. */
type Revision<T> = string | undefined | ((data: T) => string | undefined);

interface LoadOptions<T> {
  /** Requests the data again after this time, while the tab is visible. */
  readonly refreshMs?: number;
  /** The data of the former identity is removed before the next data arrives. */
  readonly identity?: string;
  /**
   * Version of what the data depends on, for example of the purchases whose payments are loaded. If it changes, the
   * data is stale and requested again.
   */
  readonly revision?: Revision<T>;
}

/** Calls an endpoint when the component appears and when the request changes. `undefined` calls nothing. */
export function useApi<C extends Contract>(
  endpoint: Endpoint<C>,
  request: EndpointRequest<C> | undefined,
  options: Omit<LoadOptions<ContractResponse<C>>, 'identity'> = {},
): Loaded<ContractResponse<C>> {
  const load = request && ((signal: AbortSignal) => callApi(endpoint, request, { signal }));
  return useLoad(load, JSON.stringify([endpoint.path, request]), {
    ...options,
    identity: JSON.stringify([endpoint.path, request?.params]),
  });
}

interface LoadState<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly isLoading: boolean;
  /** Revision of the data or the error. */
  readonly key: string;
  readonly identity: string;
}

/** Runs `load` when the component appears and when `key` changes. Aborts it when the component disappears. */
export function useLoad<T>(
  load: ((signal: AbortSignal) => Promise<T>) | undefined,
  key: string,
  { refreshMs, identity = '', revision }: LoadOptions<T> = {},
): Loaded<T> {
  const [state, setState] = useState<LoadState<T>>({ isLoading: load !== undefined, key, identity });
  const [run, setRun] = useState(0);
  const latestLoad = useRef(load);
  latestLoad.current = load;
  const isEnabled = load !== undefined;
  // `key` stands for `load`, and `run` repeats it.
  useEffect(() => {
    const { current } = latestLoad;
    if (!current) return;
    const controller = new AbortController();
    setState((state) =>
      state.identity === identity ? { ...state, isLoading: true } : { isLoading: true, key, identity },
    );
    current(controller.signal).then(
      (data) => {
        if (!controller.signal.aborted) setState({ data, isLoading: false, key, identity });
      },
      (error: unknown) => {
        if (controller.signal.aborted) return;
        setState((state) => ({ ...(state.key === key && state), error, isLoading: false, key, identity }));
      },
    );
    return () => controller.abort();
  }, [key, identity, run, isEnabled]);
  const reload = useCallback(() => setRun((count) => count + 1), []);
  useInterval(reload, isEnabled && !state.isLoading ? refreshMs : undefined);
  const isCurrent = state.identity === identity;
  const dataOfRevision = isCurrent ? state.data : undefined;
  useChange(typeof revision === 'function' ? dataOfRevision && revision(dataOfRevision) : revision, reload);
  return {
    data: isCurrent ? state.data : undefined,
    error: isCurrent ? state.error : undefined,
    isLoading: state.isLoading || !isCurrent,
    isStale: isCurrent && state.data !== undefined && state.key !== key,
    reload,
  };
}

/** Calls `run` repeatedly while the tab is visible. Stops without an interval. */
function useInterval(run: () => void, intervalMs: number | undefined): void {
  useEffect(() => {
    if (intervalMs === undefined) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') run();
    }, intervalMs);
    return () => clearInterval(timer);
  }, [run, intervalMs]);
}

/** State of a change that the user starts. */
interface Action<Args extends readonly unknown[]> {
  readonly run: (...args: Args) => Promise<void>;
  readonly isRunning: boolean;
  readonly error: unknown;
}

/** Runs a change once at a time. It is not aborted if the user leaves the page. */
export function useAction<Args extends readonly unknown[]>(perform: (...args: Args) => Promise<unknown>): Action<Args> {
  const [state, setState] = useState<{ readonly isRunning: boolean; readonly error?: unknown }>({ isRunning: false });
  const isRunning = useRef(false);
  const run = async (...args: Args): Promise<void> => {
    if (isRunning.current) return;
    isRunning.current = true;
    setState({ isRunning: true });
    try {
      await perform(...args);
      setState({ isRunning: false });
    } catch (error) {
      setState({ isRunning: false, error });
    } finally {
      isRunning.current = false;
    }
  };
  return { run, isRunning: state.isRunning, error: state.error };
}
